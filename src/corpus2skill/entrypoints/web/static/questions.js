// The test questions of a corpus: made, changed, removed, taken from a file, written to one.

import { base, Problem, whole } from "./api.js";
import { h } from "./dom.js";
import { may } from "./form.js";
import { paged } from "./more.js";
import { expectation } from "./question_form.js";
import { ask, busy, note } from "./shell.js";
import { table } from "./table.js";
import { ago, t } from "./text.js";

export async function questionsTab({ corpus }) {
  const path = `/corpora/${encodeURIComponent(corpus)}/test-questions`;
  const list = await paged(`${path}?limit=50`, (questions) =>
    questions.length ? lines(questions, path, () => list.reload()) : h("div", { class: "empty" }, h("h2", {}, t("tests.none")), h("p", {}, t("tests.none_how"))));
  return h("div", { class: "stack" }, bar(path, () => list.reload()), list);
}

function bar(path, changed) {
  const file = h("input", { type: "file", accept: ".csv,.jsonl", class: "unseen", "aria-label": t("tests.import"), tabindex: -1, onchange: () => busy(choose, () => take(path, file, changed)) });
  const choose = h("button", { onclick: () => file.click() }, t("tests.import"));
  const written = (format) => h("a", { class: "button", download: true, href: `${base}/v1${path}/export?format=${format}` }, t(`tests.export_${format}`));
  return h("div", {}, h("div", { class: "row" },
    may("write") && h("button", { class: "primary", onclick: () => edit(path, null, changed) }, t("tests.add")),
    may("write") && [choose, file], written("csv"), written("jsonl")), h("small", { class: "quiet" }, t("tests.import_hint")));
}

async function take(path, file, changed) {
  const [chosen] = file.files;
  if (!chosen) return;
  const kind = chosen.name.toLowerCase().endsWith(".csv") ? "text/csv" : "application/jsonl";
  file.value = "";
  const { content } = await whole("POST", `${path}/import`, { raw: chosen, headers: { "Content-Type": kind } });
  note(t("tests.imported", { n: content.imported }));
  await changed();
}

function lines(questions, path, changed) {
  return table(t("tests.caption"), [t("tests.question"), t("tests.expected"), t("tests.changed"), ""], questions.map((question) => [
    h("div", {}, question.question, question.note && h("small", { class: "two-lines" }, question.note)),
    expected(question),
    h("small", {}, ago(question.changed_at)),
    may("write") && h("div", { class: "row" },
      h("button", { "aria-label": t("tests.edit_one", { question: question.question }), onclick: () => edit(path, question, changed) }, t("tests.edit")),
      h("button", { class: "danger", "aria-label": t("tests.remove_one", { question: question.question }), onclick: () => drop(path, question, changed) }, t("tests.remove"))),
  ]));
}

export const expected = (question) =>
  h("div", {}, question.expected_sources.map((source) => h("div", { class: "mono" }, source)), question.expects_not_found && h("span", { class: "badge lit" }, t("tests.not_found")));

/** Make a question, or change one. Somebody else may have changed it meanwhile: then one chooses anew. */
async function edit(path, question, changed) {
  const form = expectation(question ?? {});
  const save = () => (question
    ? whole("PUT", `${path}/${question.question_id}`, { body: { ...form.values(), note: question.note }, headers: { "If-Match": `"${question.revision}"` } })
    : whole("POST", path, { body: form.values() }));
  const isDone = await ask({ title: t(question ? "tests.edit" : "tests.add"), body: form.body, yes: t("save"), work: () => orOutrun(save, changed) });
  if (isDone) await changed();
}

async function drop(path, question, changed) {
  const isDone = await ask({
    title: t("tests.remove"),
    body: h("div", { class: "stack" }, h("p", {}, question.question), h("small", {}, t("tests.remove_how"))),
    yes: t("tests.remove"),
    isDanger: true,
    work: () => orOutrun(() => whole("DELETE", `${path}/${question.question_id}`, { headers: { "If-Match": `"${question.revision}"` } }), changed),
  });
  if (isDone) await changed();
}

/** What somebody else did meanwhile is shown behind the dialog, where what was typed stays to be copied. */
async function orOutrun(work, changed) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && [404, 412].includes(error.status)) await changed();
    throw error;
  }
}
