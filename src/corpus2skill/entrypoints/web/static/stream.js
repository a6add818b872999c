// What happens to runs, jobs and documents, as it happens. All tabs share one connection: by a SharedWorker, else
// by the tab that holds a lock and speaks to the others over a channel.

import { base } from "./api.js";
import { unique } from "./dom.js";
import { Hub } from "./hub.js";

const address = `${base}/v1/events`;
const handlers = new Map(); // topic -> { seen, listeners }
const tab = unique();
const say = "SharedWorker" in window ? byWorker() : byLeader();

/** Call `listener(event)` for each event of `topic` numbered above `after`, in order; returns what stops it. Where the
 *  connection breaks it is told an event `stream.lost`: what goes on from there is found by asking, or by waiting. */
export function watch(topic, after, listener) {
  const watched = handlers.get(topic) ?? { seen: after, listeners: new Set() };
  watched.seen = Math.min(watched.seen, after);
  watched.listeners.add(listener);
  handlers.set(topic, watched);
  tell();
  return () => {
    watched.listeners.delete(listener);
    if (!watched.listeners.size) handlers.delete(topic);
    tell();
  };
}

// Who comes back after a long sleep may have been given up.
addEventListener("pageshow", (event) => event.persisted && tell());
addEventListener("visibilitychange", () => !document.hidden && handlers.size && tell());

function tell() {
  say({ tab, topics: Object.fromEntries([...handlers].map(([topic, { seen }]) => [topic, seen])) });
}

function take(event) {
  const watched = handlers.get(event.topic);
  const isLost = event.event === "stream.lost";
  if (!watched || (!isLost && event.id <= watched.seen)) return;
  if (!isLost) watched.seen = event.id;
  for (const listener of [...watched.listeners]) listener(event);
}

function byWorker() {
  const url = new URL("./stream_worker.js", import.meta.url);
  url.searchParams.set("at", address);
  // The one script address that is made at run time; a strict policy wants it named (Trusted Types).
  const policy = window.trustedTypes?.createPolicy("corpus2skill", { createScriptURL: (address) => address });
  const worker = new SharedWorker(policy ? policy.createScriptURL(String(url)) : url, { type: "module", name: "corpus2skill" });
  worker.port.onmessage = ({ data }) => take(data);
  worker.port.start();
  setInterval(() => worker.port.postMessage({}), 20_000);
  addEventListener("pagehide", () => worker.port.postMessage({ isLeaving: true }));
  return (message) => worker.port.postMessage(message);
}

function byLeader() {
  const channel = new BroadcastChannel("corpus2skill");
  let hub = null;
  const give = (client, event) => (client === tab ? take(event) : channel.postMessage({ to: client, event }));
  channel.onmessage = ({ data }) => {
    if (data.to === tab) take(data.event);
    else if (data.topics) hub?.watch(data.tab, data.topics);
    else if (data.isLeaving) hub?.leave(data.tab);
    else if (data.isNewLeader) tell();
  };
  const lead = () => {
    hub = new Hub(address, (url) => new EventSource(url), give);
    channel.postMessage({ isNewLeader: true });
    tell();
    return new Promise(() => {}); // the lock is held until this tab is gone
  };
  // Without a lock, which only https gives, each tab has a connection of its own.
  if (navigator.locks) navigator.locks.request("corpus2skill-stream", lead);
  else lead();
  addEventListener("pagehide", () => channel.postMessage({ tab, isLeaving: true }));
  return (message) => (hub ? hub.watch(tab, message.topics) : channel.postMessage(message));
}
