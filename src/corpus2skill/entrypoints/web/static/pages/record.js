// One record: the conversation first; the way, the exchange and what else is kept are one click away.

import { inAddress } from "../address.js";
import { base, get, query } from "../api.js";
import { at, h, put } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { outcomeBadge, ratingBadge } from "../outcome.js";
import { exchange } from "../record_exchange.js";
import { about } from "../record_facts.js";
import { recordTrail } from "../record_trail.js";
import { page } from "../shell.js";
import { count, money, span, t, when } from "../text.js";
import { endedTurn } from "../turn.js";

const TABS = { talk: conversation, trail: way, exchange: (record) => exchange(record), facts: (record) => about(record) };
const id = at("page").dataset.run;

page(async () => {
  if (!may("records")) return notAllowed("records");
  const record = await get(`/records/${encodeURIComponent(id)}`);
  const { tab } = inAddress(["tab"]);
  const current = tab in TABS ? tab : "talk";
  head(record, current);
  return TABS[current](record);
});

// What is folded on the screen is evidence on paper.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("#page details")) folded.open = true;
});

function head(record, current) {
  document.title = `${record.question} - ${t("title.record")} - Corpus2Skill`;
  const crumbs = h("nav", { "aria-label": t("corpus_tabs.way") },
    h("ol", { class: "crumbs" }, h("li", {}, h("a", { href: `${base}/records` }, t("title.records"))), h("li", {}, when(record.started_at))));
  const tabs = h("nav", { class: "tabs no-print", "aria-label": t("title.record") },
    Object.keys(TABS).map((name) => h("a", { href: query({ tab: name }), "aria-current": name === current && "page" }, t(`record.${name}`))));
  const title = at("title").parentElement;
  title.before(crumbs);
  title.after(tabs);
  put(at("title-actions"), outcomeBadge(record.outcome), ratingBadge(record.feedback), h("button", { class: "no-print", onclick: () => print() }, t("record.print")));
}

/** All turns of the conversation; the one whose record this is in full. */
async function conversation(record) {
  const { data } = await get(`/records${query({ session_id: record.session_id, limit: 200 })}`);
  const turns = data.reverse().map((line) => (line.run_id === record.run_id ? whole(record) : other(line)));
  return h("div", { class: "turns" }, turns.length ? turns : whole(record), summary(record));
}

const whole = (record) =>
  h("div", { class: "stack" },
    record.heard && record.heard !== record.question && h("p", { class: "quiet" }, t("record.heard", { text: record.heard })),
    endedTurn(record, { hasFeedback: false }), said(record.feedback));

const other = (line) =>
  h("article", { class: "turn aside-turn" }, h("p", { class: "question" }, line.question),
    h("p", { class: "answer two-lines" }, line.answer),
    h("p", {}, h("a", { href: `${base}/records/${line.run_id}` }, t("record.open", { n: line.turn }))));

function said(feedback) {
  if (!feedback) return null;
  return h("section", { class: "notice", "aria-label": t("records.rating") },
    h("div", { class: "chips" }, ratingBadge(feedback), feedback.reasons.map((name) => h("span", { class: "badge" }, t(`feedback.${name}`)))),
    feedback.comment && h("p", {}, feedback.comment), h("small", {}, when(feedback.given_at)));
}

function way(record) {
  return h("div", { class: "stack" }, h("p", { class: "question" }, record.question), summary(record), recordTrail(record),
    endedTurn({ ...record, trail: [] }, { hasFeedback: false }).querySelector(".answer"));
}

function summary(record) {
  const { usage } = record;
  const facts = [
    [t("record.id"), h("span", { class: "mono" }, record.run_id)],
    [t("record.began"), when(record.started_at)],
    [t("record.fetches"), count(record.fetches)],
    [t("records.time"), span(record.total_ms)],
    [t("record.tokens"), t("record.tokens_of", { input: count(usage.input_tokens), output: count(usage.output_tokens), cached: count(usage.cached_tokens) })],
    [t("record.money"), money(record.usd)],
    [t("record.version"), h("a", { href: `${base}/c/${encodeURIComponent(record.corpus)}/tree${query({ version: record.version })}` }, `${record.corpus} v${record.version}`)],
  ];
  return h("dl", { class: "facts card" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
