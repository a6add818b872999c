// The trial conversation: ask, and watch the way through the tree light up beside the answer.

import { base, get, post, query } from "../api.js";
import { at, h, icon, put, unique } from "../dom.js";
import { may } from "../form.js";
import { liveTurn } from "../live_turn.js";
import { failure, page, sends } from "../shell.js";
import { pastConversations } from "../sessions.js";
import { t } from "../text.js";
import { endedTurn } from "../turn.js";
import { WalkedTree } from "../walked_tree.js";

const asked = new URLSearchParams(location.search);
const DRAFT = "c2s_draft"; // what was typed and not yet sent outlives a sign-in that has to be done again

page(async () => {
  const session = asked.get("session") && (await get(`/sessions/${encodeURIComponent(asked.get("session"))}`));
  const { data: corpora } = await get("/corpora?limit=200");
  const live = corpora.filter((corpus) => corpus.active_version);
  const corpus = corpora.find((one) => one.corpus === (session?.corpus ?? asked.get("corpus"))) ?? live[0];
  if (!corpus || !(session || corpus.active_version))
    return h("div", { class: "empty" }, h("h2", {}, t("talk.nothing")), h("p", {}, t("talk.nothing_how")),
      h("a", { class: "button primary", href: `${base}/knowledge` }, t("nav.knowledge")));
  return new Conversation(corpus, live, session).build();
});

/** The model that answers where none is chosen; null for who may not see the settings. */
async function modelAsSet() {
  if (!may("write")) return null;
  const { settings } = await get("/settings").catch(() => ({ settings: {} }));
  return settings.navigation_model?.value ?? settings.model?.value ?? null;
}

/** The models that one may ask with: as set, and the offline engine. */
function models(set) {
  if (!set || isOffline(set)) return null;
  return h("select", { "aria-label": t("talk.model") },
    h("option", { value: "" }, set), h("option", { value: "offline" }, t("talk.offline")));
}

const isOffline = (model) => model.startsWith("offline");

class Conversation {
  constructor(corpus, corpora, session) {
    Object.assign(this, { corpus, corpora, session: session?.session_id ?? null, attempt: unique(), running: 0 });
    this.turns = h("div", { class: "turns" });
    this.status = h("p", { class: "unseen", role: "status" });
    this.notice = h("small", { class: "quiet" });
    this.told = {
      walked: (visits) => this.tree?.walk(visits.map(({ path }) => path)),
      started: ({ version }) => this.plant(version),
      say: (words) => put(this.status, words),
      ended: (run) => this.settle(run),
      shown: { handOff: corpus.hand_off, opened: (trail) => this.tree?.forget() || this.tree?.walk(trail.map(({ path }) => path)) },
    };
  }

  async build() {
    this.set = await modelAsSet();
    this.model = models(this.set);
    this.model?.addEventListener("change", () => this.warn());
    this.warn();
    this.garden = h("div", { class: "scrolls" });
    this.past = h("div");
    put(at("title-actions"), this.chooser(), this.model,
      h("a", { class: "button", href: `${base}/talk${query({ corpus: this.corpus.corpus })}` }, t("talk.new")));
    await this.restore();
    if (!this.tree) this.plant(this.corpus.active_version);
    pastConversations(this.past, this.session);
    if (this.session) requestAnimationFrame(() => this.turns.lastElementChild?.scrollIntoView({ block: "nearest" }));
    // Another tab may have gone on with the same conversation.
    addEventListener("visibilitychange", () => !document.hidden && this.session && !this.running && this.restore().catch(() => {}));
    const isWide = matchMedia("(min-width: 60rem)").matches;
    return h("div", { class: "two talk" },
      h("div", { class: "stack" }, this.status, this.turns, this.composer()),
      h("aside", { class: "stack" },
        h("details", { class: "card", open: isWide }, h("summary", {}, h("h2", {}, t("talk.way"))), this.garden),
        h("details", { class: "card", open: isWide }, h("summary", {}, h("h2", {}, t("talk.past"))), this.past)));
  }

  composer() {
    this.field = h("textarea", { id: "question", rows: 1, maxlength: 10000, placeholder: t("talk.placeholder"), autocomplete: "off",
      value: sessionStorage.getItem(DRAFT) ?? "", oninput: () => sessionStorage.setItem(DRAFT, this.field.value) });
    this.button = h("button", { class: "primary", disabled: this.running > 0 }, icon("send", 18), h("span", {}, t("talk.ask")));
    this.field.addEventListener("keydown", (event) => {
      if (!sends(event)) return;
      event.preventDefault();
      this.ask();
    });
    return h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.ask(); } },
      h("label", { class: "unseen", for: "question" }, t("talk.question")),
      h("div", { class: "row" }, h("div", { class: "grow" }, this.field), this.button),
      this.notice);
  }

  /** Say who makes the answers. Who may not see the settings learns it from the newest answer. */
  warn(answered = null) {
    const model = this.model?.value || this.set || answered;
    put(this.notice, t(model ? (isOffline(model) ? "talk.notice_offline" : "talk.notice") : "talk.notice_either"));
  }

  chooser() {
    if (this.corpora.length < 2) return null;
    const go = ({ target }) => location.assign(`${base}/talk${query({ corpus: target.value })}`);
    return h("select", { "aria-label": t("corpus"), onchange: go },
      this.corpora.map(({ corpus, title }) => h("option", { value: corpus, selected: corpus === this.corpus.corpus }, title || corpus)));
  }

  /** Show the tree of the version that the conversation reads: that of today, once a question begins with a new one. */
  plant(version) {
    if (!version || this.tree?.version === version) return;
    this.tree = new WalkedTree(this.corpus.corpus, version);
    this.tree.version = version;
    this.tree.build().then((list) => put(this.garden, list), (error) => put(this.garden, failure(error)));
  }

  /** After a reload everything is there again, and what is still being answered goes on. */
  async restore() {
    if (!this.session) return this.hint();
    const { data } = await get(`/sessions/${this.session}/runs?limit=100`);
    const fresh = data.reverse().filter((run) => !at(run.run_id));
    if (!this.turns.children.length && !data.length) return this.hint();
    for (const run of fresh) this.turns.append(run.state === "running" ? this.live(run) : endedTurn(run, this.told.shown));
    const last = data.at(-1);
    this.plant(last?.version);
    this.warn(last?.model);
    if (fresh.length && last.trail.length) this.tree?.walk(last.trail.map(({ path }) => path));
  }

  hint() {
    put(this.turns, h("div", { class: "empty" },
      h("h2", {}, t("talk.begin", { corpus: this.corpus.title || this.corpus.corpus })), h("p", {}, t("talk.begin_how"))));
  }

  async ask() {
    const question = this.field.value.trim();
    if (!question || this.button.disabled) return;
    this.button.disabled = true;
    this.turns.querySelector(":scope > .notice")?.remove();
    try {
      await this.begin();
      const options = { headers: { "Idempotency-Key": this.attempt } }; // tried again after a break, it is asked once
      const run = await post(`/sessions/${this.session}/runs`, { question, model: this.model?.value || null }, options);
      this.attempt = unique();
      this.field.value = "";
      sessionStorage.removeItem(DRAFT);
      this.turns.querySelector(":scope > .empty")?.remove();
      this.tree?.forget();
      this.turns.append(this.live({ ...run, question }));
      this.turns.lastElementChild.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.turns.append(failure(error));
      this.button.disabled = false;
    }
  }

  async begin() {
    if (this.session) return;
    this.session = (await post("/sessions", { corpus: this.corpus.corpus })).session_id;
    history.replaceState(null, "", query({ corpus: this.corpus.corpus, session: this.session }));
  }

  live(run) {
    this.running += 1;
    if (this.button) this.button.disabled = true;
    return liveTurn(run, this.told);
  }

  settle(run) {
    this.running -= 1;
    if (run?.model) this.warn(run.model);
    this.button.disabled = this.running > 0;
    // Whoever went elsewhere meanwhile is left there.
    if (document.activeElement === document.body) this.field.focus({ preventScroll: true });
    pastConversations(this.past, this.session);
  }
}
