// The trial conversation: ask, and watch the way through the tree light up beside the answer.

import { base, get, post, query } from "../api.js";
import { at, h, icon, put } from "../dom.js";
import { failure, page, sends } from "../shell.js";
import { t } from "../text.js";
import { WalkedTree } from "../walked_tree.js";
import { endedTurn, liveTurn } from "../turn.js";

const asked = new URLSearchParams(location.search);

page(async () => {
  const { data: corpora } = await get("/corpora?limit=200");
  const live = corpora.filter((corpus) => corpus.active_version);
  if (!live.length)
    return h("div", { class: "empty" }, h("h2", {}, t("talk.nothing")), h("p", {}, t("talk.nothing_how")),
      h("a", { class: "button primary", href: `${base}/knowledge` }, t("nav.knowledge")));
  const corpus = live.find(({ name }) => name === asked.get("corpus")) ?? live[0];
  return new Conversation(corpus, live).build();
});

class Conversation {
  constructor(corpus, corpora) {
    this.corpus = corpus;
    this.corpora = corpora;
    this.session = asked.get("session");
    this.turns = h("div", { class: "turns" });
    this.status = h("p", { class: "unseen", role: "status" });
    this.tree = new WalkedTree(corpus.name, corpus.active_version);
  }

  async build() {
    this.field = h("textarea", { id: "question", rows: 1, maxlength: 10000, placeholder: t("talk.placeholder"), autocomplete: "off" });
    this.button = h("button", { class: "primary" }, icon("send", 18), h("span", {}, t("talk.ask")));
    const form = h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.ask(); } },
      h("label", { class: "unseen", for: "question" }, t("talk.question")),
      h("div", { class: "row" }, h("div", { class: "grow" }, this.field), this.button),
      h("small", { class: "quiet" }, t("talk.notice")));
    this.field.addEventListener("keydown", (event) => {
      if (!sends(event)) return;
      event.preventDefault();
      this.ask();
    });
    put(at("title-actions"), this.chooser(), h("a", { class: "button", href: `${base}/talk${query({ corpus: this.corpus.name })}` }, t("talk.new")));
    await this.restore();
    return h("div", { class: "two talk" },
      h("div", { class: "stack" }, this.status, this.turns, form),
      h("aside", { class: "card", "aria-label": t("talk.way") }, h("h2", {}, t("talk.way")), await this.tree.build()));
  }

  chooser() {
    if (this.corpora.length < 2) return null;
    return h("select", { "aria-label": t("corpus"), onchange: (event) => location.assign(`${base}/talk${query({ corpus: event.target.value })}`) },
      this.corpora.map(({ name, title }) => h("option", { value: name, selected: name === this.corpus.name }, title || name)));
  }

  /** After a reload everything is there again, and what is still being answered goes on. */
  async restore() {
    if (!this.session) return this.hint();
    const { data } = await get(`/sessions/${this.session}/runs?limit=100`);
    const oldestFirst = data.sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
    put(this.turns, oldestFirst.map((run) => (run.state === "running" ? this.live(run) : endedTurn(run, { handOff: this.handOff }))));
    const last = oldestFirst.at(-1);
    if (last?.trail) this.tree.walk(last.trail.map(({ path }) => path));
  }

  hint() {
    put(this.turns, h("div", { class: "empty" }, h("h2", {}, t("talk.begin", { corpus: this.corpus.title || this.corpus.name })), h("p", {}, t("talk.begin_how"))));
  }

  get handOff() {
    const address = this.corpus.settings?.hand_off;
    return address && /^(https?:|mailto:|tel:)/.test(address) ? address : null;
  }

  async ask() {
    const question = this.field.value.trim();
    if (!question || this.button.disabled) return;
    this.button.disabled = true;
    this.turns.querySelector(":scope > .notice")?.remove();
    try {
      await this.begin();
      const run = await post(`/sessions/${this.session}/runs`, { question });
      this.field.value = "";
      this.turns.querySelector(":scope > .empty")?.remove();
      this.tree.forget();
      this.turns.append(this.live(run));
      this.turns.lastElementChild.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.turns.append(failure(error));
      this.button.disabled = false;
    }
  }

  async begin() {
    if (this.session) return;
    this.session = (await post("/sessions", { corpus: this.corpus.name })).session_id;
    history.replaceState(null, "", query({ corpus: this.corpus.name, session: this.session }));
  }

  live(run) {
    this.button.disabled = true;
    return liveTurn(run, {
      walked: (visit, visits) => this.tree.walk(visits.map(({ path }) => path)),
      say: (words) => put(this.status, words),
      ended: () => { this.button.disabled = false; this.field.focus({ preventScroll: true }); },
    });
  }
}
