// The SharedWorker: one hub for all tabs. A tab that is gone without a word is noticed by its silence.

import { Hub } from "./hub.js";

// Browsers let the timers of tabs in the background run once a minute.
const SILENT_MS = 180_000;
const heard = new Map();
const address = new URL(self.location.href).searchParams.get("at");
const hub = new Hub(address, (url) => new EventSource(url), (port, event) => port.postMessage(event));

self.onconnect = ({ ports: [port] }) => {
  heard.set(port, Date.now());
  port.onmessage = ({ data }) => {
    heard.set(port, Date.now());
    if (data.topics) hub.watch(port, data.topics);
    if (data.isLeaving) drop(port);
  };
};

setInterval(() => {
  for (const [port, at] of heard) if (Date.now() - at > SILENT_MS) drop(port);
}, SILENT_MS / 2);

function drop(port) {
  heard.delete(port);
  hub.leave(port);
}
