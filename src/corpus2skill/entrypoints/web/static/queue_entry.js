// One entry of the queue: the question, what was answered, why it is here, and what is to be done about it.

import { base, post, query } from "./api.js";
import { h, put } from "./dom.js";
import { field, may } from "./form.js";
import { outcomeBadge, ratingBadge } from "./outcome.js";
import { expectation } from "./question_form.js";
import { ask, busy, note } from "./shell.js";
import { ago, t } from "./text.js";

/** `settled()` is called when the entry leaves the list that it stands in. */
export function entryCard(entry, settled = () => {}) {
  const { record } = entry;
  const card = h("article", { class: "entry", "data-entry": "" });
  const settle = async (state, more = {}) => {
    const now = await post(`/queue/${entry.run_id}`, { state, ...more });
    if (state === entry.state) return put(card, ...content(now));
    settled();
    const back = () => post(`/queue/${entry.run_id}`, { state: entry.state, note: entry.note }).then(() => location.reload());
    put(card, h("div", { class: "row" }, h("span", { class: "badge good" }, t(`queue.state.${state}`)), h("span", { class: "one-line grow" }, record.question), after(now),
      h("button", { onclick: ({ currentTarget }) => busy(currentTarget, back) }, t("queue.undo"))));
    card.tabIndex = -1;
    card.focus();
    note(t("queue.settled"));
  };
  const content = (now) => [
    h("h3", {}, h("a", { href: `${base}/records/${now.run_id}` }, record.question || t("record.no_words"))),
    h("p", { class: "two-lines" }, record.answer),
    h("div", { class: "chips" }, outcomeBadge(record.outcome), ratingBadge(record.feedback), record.is_doubtful && h("span", { class: "badge bad" }, t("records.doubtful")),
      h("small", { class: "quiet" }, `${ago(record.started_at)} · v${record.version}`)),
    record.feedback?.comment && h("p", { class: "notice" }, record.feedback.comment),
    now.note && h("p", { class: "notice lit" }, now.note),
    actions(now, settle),
  ];
  return put(card, ...content(entry));
}

const tree = (entry) =>
  `${base}/c/${encodeURIComponent(entry.record.corpus)}/tree${query({ version: entry.record.version, node: entry.branch })}`;

/** Where one goes on after a decision. */
function after({ state, record, branch }) {
  const corpus = encodeURIComponent(record.corpus);
  if (state === "to_do") return h("a", { class: "button", href: `${base}/c/${corpus}/documents` }, t("queue.to_documents"));
  if (state === "mend_branch") return h("a", { class: "button", href: tree({ record, branch }) }, t("queue.to_tree"));
  if (state === "made_a_test") return h("a", { class: "button", href: `${base}/tests${query({ corpus: record.corpus })}` }, t("queue.to_tests"));
  return null;
}

function actions(entry, settle) {
  const withNote = (state) => async () => {
    const said = field({ label: t("queue.note"), name: "note", maxlength: 2000, value: entry.note ?? "", hint: t("queue.note_hint") });
    const body = [h("p", {}, t(`queue.${state}.how`)), said];
    await ask({ title: t(`queue.do.${state}`), body, yes: t("save"), work: (form) => settle(state, { note: form.get("note").trim() || null }) });
  };
  const makeTest = async () => {
    const form = expectation({ question: entry.record.question, expects_not_found: false, expected_sources: [] });
    await ask({ title: t("queue.do.made_a_test"), body: form.body, yes: t("queue.do.made_a_test"), work: () => {
      const { question, expected_sources: sources, expects_not_found: isNotFound } = form.values();
      return settle("made_a_test", { test: { question, expected_sources: sources, expects_not_found: isNotFound } });
    } });
  };
  const isOpen = entry.state === "open";
  return h("div", { class: "row no-print" },
    isOpen && ["to_do", "mend_branch"].map((state) => h("button", { onclick: withNote(state) }, t(`queue.do.${state}`))),
    isOpen && may("write") && h("button", { onclick: makeTest }, t("queue.do.made_a_test")),
    isOpen && h("button", { onclick: withNote("fine") }, t("queue.do.fine")),
    !isOpen && after(entry),
    !isOpen && h("button", { onclick: ({ currentTarget }) => busy(currentTarget, () => settle("open", { note: entry.note })) }, t("queue.do.open")),
    isOpen && h("a", { class: "button plain", href: tree(entry) }, t("queue.look")));
}
