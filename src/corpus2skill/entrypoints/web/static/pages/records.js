// All conversations' records: filtered by the address, exported exactly as filtered.

import { filters } from "../address.js";
import { base, get, query } from "../api.js";
import { beginOf } from "../days.js";
import { at, h, put } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { paged } from "../more.js";
import { OUTCOMES, outcomeBadge, ratingBadge } from "../outcome.js";
import { page } from "../shell.js";
import { table } from "../table.js";
import { count, span, t, when } from "../text.js";

const DOORS = ["cli", "http", "web", "widget", "mcp", "openai"];

page(async () => {
  if (!may("records")) return notAllowed("records");
  const { data: corpora } = await get("/corpora?limit=200");
  const list = h("div", { class: "stack" });
  const form = filters(fields(corpora), (values) => show(list, values));
  put(at("title-actions"), h("a", { class: "button", href: `${base}/queue` }, t("title.queue")));
  await show(list, form.values());
  return h("div", { class: "stack" }, h("details", { class: "folds", open: isOpen(form) }, h("summary", {}, t("filters")), form), list);
});

/** On a phone the filters are folded away, unless some hold. */
const isOpen = (form) => matchMedia("(min-width: 48rem)").matches || Object.values(form.values()).some(Boolean);

function fields(corpora) {
  const any = (pairs) => [["", t("filters.any")], ...pairs];
  const yes = any([["true", t("filters.yes")], ["false", t("filters.no")]]);
  return [
    { name: "since", type: "date", label: t("records.since") },
    { name: "until", type: "date", label: t("records.until") },
    { name: "outcome", label: t("records.outcome"), choices: any(OUTCOMES.map((name) => [name, t(`outcome.${name}`)])) },
    { name: "channel", label: t("records.channel"), choices: any(["text", "voice"].map((name) => [name, t(`channel.${name}`)])) },
    { name: "door", label: t("records.door"), choices: any(DOORS.map((name) => [name, t(`door.${name}`)])) },
    { name: "corpus", label: t("corpus"), choices: any(corpora.map(({ corpus, title }) => [corpus, title || corpus])) },
    { name: "version", type: "number", min: 1, label: t("records.version") },
    { name: "rating", label: t("records.rating"), choices: any(["helpful", "not_helpful"].map((name) => [name, t(`feedback.${name}`)])) },
    { name: "has_comment", label: t("records.has_comment"), choices: yes },
    { name: "is_doubtful", label: t("records.is_doubtful"), choices: yes },
    { name: "end_user", label: t("records.end_user") },
    { name: "session_id", label: t("records.session") },
  ];
}

/** Days of the workspace as moments; the last day is whole. */
function wanted({ since, until, ...rest }) {
  return { ...rest, since: since && beginOf(since), until: until && beginOf(until, 1) };
}

async function show(place, values) {
  const which = wanted(values);
  const isFiltered = Object.values(values).some(Boolean);
  const list = await paged(`/records${query({ ...which, limit: 50 })}`, (records) => (records.length ? lines(records) : empty(isFiltered)));
  put(place, exports(which, isFiltered), list);
}

const empty = (isFiltered) =>
  h("div", { class: "empty" }, h("h2", {}, t(isFiltered ? "records.none_so" : "records.none")),
    !isFiltered && h("a", { class: "button primary", href: `${base}/talk` }, t("nav.talk")));

function exports(which, isFiltered) {
  const file = (format, more) => h("a", { class: "button", download: true, href: `${base}/v1/exports${query({ ...which, format, ...more })}` }, t(`records.export_${format}`));
  return h("div", { class: "row no-print" }, h("span", { class: "quiet" }, t(isFiltered ? "records.export_so" : "records.export_all")),
    file("csv", { bom: true }), file("jsonl"));
}

function lines(records) {
  const columns = [t("records.question"), t("records.outcome"), t("records.rating"), [t("records.steps"), "num"], [t("records.time"), "num"],
    t("records.way"), t("records.when")];
  return table(t("records.caption", { n: count(records.length) }), columns, records.map((record) => [
    h("div", {}, h("a", { href: `${base}/records/${record.run_id}` }, record.question || t("record.no_words")),
      h("small", { class: "two-lines" }, record.answer)),
    h("span", { class: "chips" }, outcomeBadge(record.outcome), record.is_doubtful && h("span", { class: "badge bad" }, t("records.doubtful"))),
    record.feedback ? h("span", { class: "chips" }, ratingBadge(record.feedback), record.feedback.comment && h("span", { class: "badge" }, t("records.comment"))) : "—",
    count(record.steps),
    span(record.total_ms),
    h("div", {}, `${t(`channel.${record.channel}`)} · ${t(`door.${record.door}`)}`, h("br"), h("small", {}, `${record.corpus} v${record.version}`)),
    h("span", { class: "nowrap" }, when(record.started_at)),
  ]));
}
