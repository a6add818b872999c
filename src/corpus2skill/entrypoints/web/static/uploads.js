// Sending files: many in several requests, a few at a time, with the bytes of each file on its way.

import { base, Problem } from "./api.js";
import { h, put } from "./dom.js";
import { bytes, count, language, t } from "./text.js";

const MOST_FILES = 40;
const MOST_BYTES = 16e6;
const AT_ONCE = 3;
/** So many files are shown by name while they wait; all are counted. */
const MOST_SHOWN = 100;

export class Uploads {
  /** `path` of the API; `received(answer)` is told what became of each file. */
  constructor(path, received) {
    Object.assign(this, { path, received, waiting: [], sending: new Set(), sent: 0, whole: 0, done: 0, all: 0 });
    this.said = h("p", { role: "status" });
    this.bar = h("progress", { max: 1, value: 0, "aria-label": t("upload.progress") });
    this.stop = h("button", { onclick: () => this.cancel() }, t("upload.cancel"));
    this.list = h("ul", { class: "uploads" });
    this.head = h("div", { class: "row", hidden: true }, h("div", { class: "grow" }, this.bar), this.amount = h("span", { class: "num quiet" }), this.stop);
    this.place = h("section", { class: "stack", "aria-label": t("upload.progress") }, this.said, this.head, this.list);
    addEventListener("beforeunload", (event) => this.isBusy && event.preventDefault());
  }

  get isBusy() {
    return this.sending.size > 0 || this.waiting.length > 0;
  }

  /** `files`: [{ file, name }], the name with its folders. */
  add(files) {
    if (!files.length) return;
    if (!this.isBusy) Object.assign(this, { sent: 0, whole: 0, done: 0, all: 0 });
    for (const { file, name } of files) {
      const item = { file, name, sent: 0, row: null };
      if (this.list.childElementCount < MOST_SHOWN) this.show(item);
      this.waiting.push(item);
      this.whole += file.size;
      this.all += 1;
    }
    put(this.said, t("upload.sending", { n: count(this.all) }));
    this.head.hidden = false;
    this.go();
  }

  cancel() {
    for (const { row } of this.waiting.splice(0)) row?.remove();
    for (const request of this.sending) request.abort();
  }

  go() {
    while (this.sending.size < AT_ONCE && this.waiting.length) this.send(this.batch());
    if (!this.isBusy) this.end();
  }

  /** The next files that go in one request. */
  batch() {
    const taken = [];
    let size = 0;
    while (this.waiting.length && taken.length < MOST_FILES && (!taken.length || size + this.waiting[0].file.size <= MOST_BYTES)) {
      size += this.waiting[0].file.size;
      taken.push(this.waiting.shift());
    }
    return taken;
  }

  send(items) {
    const form = new FormData();
    for (const item of items) form.append("files", item.file, item.name);
    for (const item of items) if (!item.row) this.show(item);
    const request = new XMLHttpRequest(); // `fetch` tells nothing of what is on its way
    request.open("POST", `${base}/v1${this.path}`);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Accept-Language", language);
    request.upload.onprogress = ({ loaded }) => this.progress(items, loaded);
    request.onloadend = () => {
      this.sending.delete(request);
      this.answer(items, request);
      this.go();
    };
    this.sending.add(request);
    request.send(form);
  }

  /** A request's bytes are those of its files one after another; the little around them is not counted. */
  progress(items, loaded) {
    let left = loaded;
    for (const item of items) {
      const now = Math.min(item.file.size, Math.max(0, left));
      left -= item.file.size;
      this.sent += now - item.sent;
      item.sent = now;
      if (item.bar) {
        item.bar.value = item.file.size ? now / item.file.size : 1;
        item.said.textContent = now < item.file.size ? `${bytes(now)} / ${bytes(item.file.size)}` : t("upload.stored");
      }
    }
    this.tell();
  }

  answer(items, request) {
    this.done += items.length;
    if (request.status === 202) {
      const { data } = JSON.parse(request.responseText);
      data.forEach((document, i) => this.settle(items[i], document));
      this.received(data);
    } else {
      const sentence = faultOf(request);
      for (const item of items) this.fail(item, sentence, true);
    }
    this.tell();
  }

  settle(item, document) {
    this.sent += item.file.size - item.sent;
    item.sent = item.file.size;
    if (document.state === "passed_over") this.fail(item, document.reason, false);
    else if (!document.is_new) this.fail(item, t("upload.same"), false);
    else item.row.remove();
  }

  fail(item, sentence, canRetry) {
    this.whole -= item.file.size;
    this.sent -= item.sent;
    item.sent = 0;
    const again = canRetry && h("button", { "aria-label": t("upload.again", { name: item.name }), onclick: () => { item.row.remove(); this.add([item]); } }, t("again"));
    const away = h("button", { class: "plain icon", "aria-label": t("upload.away", { name: item.name }), onclick: () => item.row.remove() }, "✕");
    put(item.row, h("span", { class: "name" }, item.name), h("span", { class: canRetry ? "fault" : "quiet" }, sentence), h("span", { class: "row" }, again, away));
  }

  show(item) {
    item.bar = h("progress", { max: 1, value: 0, "aria-label": item.name });
    item.said = h("span", { class: "num quiet" }, t("upload.waiting"));
    item.row = h("li", {}, h("span", { class: "name" }, item.name), item.bar, item.said);
    this.list.append(item.row);
  }

  tell() {
    this.bar.value = this.whole ? this.sent / this.whole : 1;
    this.amount.textContent = t("upload.amount", { done: count(this.done), all: count(this.all), sent: bytes(this.sent), whole: bytes(this.whole) });
  }

  end() {
    this.head.hidden = true;
    put(this.said, t("upload.ended", { n: count(this.done) }));
  }
}

function faultOf(request) {
  if (!request.status) return t("upload.unsent");
  try {
    return new Problem(request.status, JSON.parse(request.responseText)).message;
  } catch {
    return t("problem.unknown", { status: request.status });
  }
}
