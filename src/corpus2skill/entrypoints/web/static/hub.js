// One connection for everything that all tabs watch: a browser holds no more than six to one server (HTTP/1.1).
// Runs in a SharedWorker where there is one, else in the tab that leads.

const LOST = "stream.lost";
const SLOWEST_MS = 30_000;

/** `open(url)` makes an EventSource. A client is anything; `tell(client, event)` takes an event to it. Where the
 *  connection breaks each client is told `{topic, id, event: "stream.lost"}` once for each of its topics. */
export class Hub {
  constructor(address, open, tell) {
    Object.assign(this, { address, open, tell, watched: new Map(), clients: new Map(), source: null });
    Object.assign(this, { waiting: 0, failures: 0 });
  }

  /** `topics`: an object of topic to the number of the last event that this client has seen. */
  watch(client, topics) {
    this.clients.set(client, new Map(Object.entries(topics)));
    this.reopenSoon();
  }

  leave(client) {
    if (this.clients.delete(client)) this.reopenSoon();
  }

  /** Pages that load together change what is watched several times in a moment: one new connection is enough. */
  reopenSoon(ms = 30) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.reopen(), ms);
  }

  reopen() {
    const wanted = new Map();
    for (const topics of this.clients.values())
      for (const [topic, seen] of topics) wanted.set(topic, Math.min(seen, wanted.get(topic) ?? seen));
    const has = [...wanted.keys()].every((topic) => this.watched.has(topic) && wanted.get(topic) >= this.watched.get(topic));
    if (this.source && this.source.readyState !== 2 && has && wanted.size === this.watched.size) return;
    this.source?.close();
    this.source = null;
    this.watched = wanted;
    if (!wanted.size) return;
    const query = new URLSearchParams([...wanted].slice(0, 50).map(([topic, seen]) => ["topics", `${topic}@${seen}`]));
    this.source = this.open(`${this.address}?${query}`);
    this.source.onopen = () => { this.failures = 0; };
    this.source.onmessage = (message) => this.spread(JSON.parse(message.data));
    this.source.onerror = () => this.lose();
  }

  /** Each client is told what it has not seen, once. */
  spread(event) {
    if (this.watched.has(event.topic)) this.watched.set(event.topic, event.id);
    for (const [client, topics] of this.clients) {
      if (!topics.has(event.topic) || event.id <= topics.get(event.topic)) continue;
      topics.set(event.topic, event.id);
      this.tell(client, event);
    }
  }

  /** The browser comes back by itself while the server is away, but not once it was refused: then we do. */
  lose() {
    this.failures += 1;
    if (this.source.readyState === 2) this.reopenSoon(Math.min(SLOWEST_MS, 1000 * 2 ** this.failures));
    if (this.failures > 1 && this.source.readyState !== 2) return;
    for (const [client, topics] of this.clients)
      for (const [topic, id] of topics) this.tell(client, { topic, id, event: LOST });
  }
}
