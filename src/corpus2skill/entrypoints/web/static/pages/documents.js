// The documents of a corpus: hand them in, watch the verdicts come, find the refused ones.

import { get, query } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { liveOf, sizeOf, stateBadge } from "../document_words.js";
import { dropZone } from "../drop_zone.js";
import { field, may } from "../form.js";
import { busy, failure, page } from "../shell.js";
import { watch } from "../stream.js";
import { table, tableRow } from "../table.js";
import { ago, count, language, t, when } from "../text.js";
import { Uploads } from "../uploads.js";

const PRESENT = ["received", "accepted", "refused", "duplicate"];
const CHIPS = ["", ...PRESENT, "removed"];
const COLUMNS = [t("document.name"), t("document.found"), t("document.in_version"), [t("document.size"), "num"], [t("document.changed"), "num"]];
const asked = new URLSearchParams(location.search);

page(async () => {
  const [, found] = await Promise.all([corpusTabs("documents"), fetchPage()]);
  return new Documents(found).build();
});

function fetchPage(cursor = null) {
  return get(`${apiOf}/documents${query({ state: asked.get("state"), name: asked.get("name"), counts: cursor ? null : true, limit: 100, cursor })}`);
}

class Documents {
  constructor(found) {
    Object.assign(this, { found, rows: new Map(), counting: 0 });
    this.place = h("div", { class: "stack" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": t("documents.filter") });
  }

  build() {
    watch(`documents:${name}`, this.found.last_event, (event) => this.heard(event));
    const uploads = may("write") && new Uploads(`${apiOf}/documents`, () => this.countSoon());
    if (may("write")) put(at("title-actions"), h("a", { class: "button primary", href: `${pathOf}/compile` }, t("documents.to_compile")));
    this.showCounts(this.found.counts);
    this.show(this.found);
    return [uploads && dropZone((files) => uploads.add(files)), uploads?.place, this.filters(), this.place];
  }

  filters() {
    const search = field({ label: t("documents.search"), type: "search", name: "name", value: asked.get("name") ?? "" });
    search.addEventListener("change", (event) => this.choose({ name: event.target.value.trim() }));
    return h("div", { class: "filters" }, search, this.chips);
  }

  showCounts(counts) {
    this.counts = counts;
    const all = PRESENT.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    put(this.chips, CHIPS.filter((state) => state !== "removed" || counts.removed || asked.get("state") === "removed").map((state) =>
      h("button", { class: "chip", "data-state": state, "aria-pressed": String((asked.get("state") ?? "") === state), onclick: () => this.choose({ state }) },
        `${t(state ? `document.state.${state}` : "documents.all")} ${count(state ? counts[state] ?? 0 : all)}`)));
  }

  async choose(change) {
    for (const [key, value] of Object.entries(change)) value ? asked.set(key, value) : asked.delete(key);
    history.replaceState(null, "", `${location.pathname}${query(Object.fromEntries(asked))}`);
    try {
      const found = await fetchPage();
      this.showCounts(found.counts);
      this.show(found);
      if ("state" in change) this.chips.querySelector(`[data-state="${change.state}"]`)?.focus();
    } catch (error) {
      put(this.place, failure(error, () => this.choose({})));
    }
  }

  show(found) {
    this.rows.clear();
    if (!found.data.length) return put(this.place, this.nothing());
    const made = table(t("documents.caption"), COLUMNS, []);
    this.body = made.querySelector("tbody");
    for (const document of found.data) this.add(document, "append");
    put(this.place, made, this.more(found.next_cursor));
  }

  nothing() {
    this.body = null;
    if (asked.get("state") || asked.get("name"))
      return h("div", { class: "empty" }, h("h2", {}, t("documents.none_such")), h("button", { onclick: () => this.choose({ state: "", name: "" }) }, t("documents.all_again")));
    return h("div", { class: "empty" }, h("h2", {}, t("documents.none")), h("p", {}, t(may("write") ? "documents.none_how" : "documents.none_wait")));
  }

  more(cursor) {
    if (!cursor) return null;
    const button = h("button", { onclick: () => busy(button, async () => {
      const found = await fetchPage(cursor);
      for (const document of found.data) if (!this.rows.has(document.document_id)) this.add(document, "append");
      cursor = found.next_cursor;
      if (!cursor) button.remove();
    }) }, t("more"));
    return h("div", {}, button);
  }

  add(document, where) {
    const row = rowOf(document);
    this.rows.set(document.document_id, { document, row });
    this.body[where](row);
  }

  /** An event has the document's row, with its reason in both languages. */
  heard({ event, data }) {
    if (event === "stream.lost") return; // what comes meanwhile is told when it is back
    this.countSoon();
    const known = this.rows.get(data.document_id);
    const before = known?.document ?? { live_version: null, is_live_same: false, pages: 0 };
    const isSame = before.is_live_same && before.sha256 === data.sha256;
    const document = { ...before, ...data, reason: data.reason?.[language] ?? "", is_live_same: isSame };
    if (!isMeant(document)) {
      known?.row.remove();
      this.rows.delete(data.document_id);
    } else if (known) {
      const row = rowOf(document);
      known.row.replaceWith(row);
      this.rows.set(data.document_id, { document, row });
    } else if (this.body) this.add(document, "prepend"); // what has just come is seen at once
    else this.show({ data: [document], next_cursor: null });
  }

  countSoon() {
    clearTimeout(this.counting);
    this.counting = setTimeout(async () => this.showCounts((await get(`${apiOf}/documents?limit=1&counts=true`)).counts), 400);
  }
}

function isMeant({ state, name: named }) {
  const isState = asked.get("state") ? asked.get("state") === state : PRESENT.includes(state);
  return isState && named.normalize("NFKC").toLowerCase().includes((asked.get("name") ?? "").normalize("NFKC").toLowerCase());
}

const rowOf = (document) => tableRow(COLUMNS, [
  h("a", { href: `${pathOf}/documents/${encodeURIComponent(document.document_id)}` }, document.name),
  h("div", { class: "found" }, stateBadge(document), document.reason && h("small", {}, document.reason)),
  liveOf(document),
  sizeOf(document),
  h("time", { datetime: document.changed_at, title: when(document.changed_at) }, ago(document.changed_at)),
]);
