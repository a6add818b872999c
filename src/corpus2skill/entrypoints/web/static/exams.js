// Test runs: all questions asked of a version, with what changed since the last one.

import { base, get, post, query } from "./api.js";
import { h, put } from "./dom.js";
import { field, may } from "./form.js";
import { paged } from "./more.js";
import { outcomeBadge } from "./outcome.js";
import { expected } from "./questions.js";
import { ask, busy, failure } from "./shell.js";
import { watch } from "./stream.js";
import { table } from "./table.js";
import { ago, count, money, span, t, when } from "./text.js";

const KINDS = { finished: "good", failed: "bad", paused_budget: "lit", running: "busy", queued: "" };
const OVER = ["finished", "cancelled"];
const RESTING = ["failed", "paused_budget"];

export async function examsTab(corpus, run) {
  const path = `/corpora/${encodeURIComponent(corpus.corpus)}/test-runs`;
  if (run) return oneExam(corpus, `${path}/${encodeURIComponent(run)}`);
  const list = await paged(`${path}?limit=20`, (exams) => (exams.length ? lines(exams) : h("div", { class: "empty" }, h("h2", {}, t("tests.no_runs")), h("p", {}, t("tests.no_runs_how")))));
  return h("div", { class: "stack" }, may("write") && starter(corpus, path), list);
}

/** Choose a version; a paid model needs a cap. */
function starter(corpus, path) {
  const place = h("div");
  get(`/corpora/${encodeURIComponent(corpus.corpus)}/versions?limit=100`).then(({ data }) => {
    if (!data.length) return put(place, h("p", { class: "quiet" }, t("talk.nothing_how")));
    const versions = data.map(({ version }) => [String(version), version === corpus.active_version ? t("tests.live_version", { n: version }) : `v${version}`]);
    const start = h("button", { class: "primary" }, t("tests.start"));
    const form = h("form", { class: "filters", onsubmit: (event) => {
      event.preventDefault();
      const { version, cap } = form.elements;
      busy(start, async () => {
        const exam = await post(path, { version: Number(version.value), max_cost: cap.value ? Number(cap.value) : null });
        location.assign(query({ corpus: corpus.corpus, run: exam.test_run_id }));
      });
    } }, field({ label: t("records.version"), name: "version", choices: versions, value: String(corpus.active_version) }),
    field({ label: t("tests.cap"), name: "cap", type: "number", min: 0, step: "any", inputmode: "decimal" }), start);
    return put(place, form, h("small", { class: "quiet" }, t("tests.cap_hint")));
  }, (error) => put(place, failure(error)));
  return place;
}

const stateBadge = (exam) => h("span", { class: `badge ${KINDS[exam.state] ?? ""}` }, t(`tests.state.${exam.state}`));
const score = (exam) => (exam.state === "finished" ? t("tests.score", { passed: count(exam.passed), n: count(exam.questions) }) : t("tests.done", { done: count(exam.done), n: count(exam.questions) }));

function lines(exams) {
  return table(t("tests.runs"), [t("records.version"), t("tests.state"), t("tests.result"), t("record.model"), [t("record.money"), "num"], t("records.when")], exams.map((exam) => [
    h("a", { href: query({ corpus: exam.corpus, run: exam.test_run_id }) }, `v${exam.version}`),
    h("span", { class: "chips" }, stateBadge(exam), exam.is_switched && h("span", { class: "badge good" }, t("tests.switched"))),
    h("span", {}, score(exam), !exam.is_of_today && h("small", { class: "quiet" }, ` ${t("tests.old")}`)),
    h("span", { class: "mono" }, exam.model),
    money(exam.dollars),
    h("span", { class: "nowrap" }, ago(exam.created_at)),
  ]));
}

async function oneExam(corpus, path) {
  const face = h("div", { class: "card" });
  const results = h("div");
  let shown = "";
  const load = async () => {
    const exam = await get(path);
    put(face, summary(exam, path, load));
    const now = `${exam.state} ${exam.done}`;
    // Results in parts of a run that goes on would push what one reads away: they come at its end, or where it rests.
    if (now !== shown && (OVER.includes(exam.state) || RESTING.includes(exam.state))) put(results, await listResults(path));
    shown = now;
    return exam;
  };
  const exam = await load();
  if (!OVER.includes(exam.state)) watch(`test-run:${exam.test_run_id}`, 0, () => soon(load));
  return h("div", { class: "stack" },
    h("p", {}, h("a", { href: query({ corpus: corpus.corpus, tab: "runs" }) }, t("tests.all_runs"))), face, results);
}

/** Events may come fast: at most two looks a second, the last event's for certain. */
function soon(load) {
  clearTimeout(soon.waiting);
  soon.waiting = setTimeout(() => load().catch(() => {}), 250);
}

function summary(exam, path, load) {
  const act = (name, body) => ({ currentTarget }) => busy(currentTarget, () => post(`${path}/${name}`, body).then(load));
  const higher = async () => {
    const cap = field({ label: t("tests.cap"), name: "cap", type: "number", min: 0, step: "any", value: exam.max_cost ?? "" });
    await ask({ title: t("tests.continue"), body: cap, yes: t("tests.continue"), work: (form) => post(`${path}/continue`, { max_cost: form.get("cap") ? Number(form.get("cap")) : null }).then(load) });
  };
  return [
    h("header", {}, h("h2", {}, t("tests.run_of", { n: exam.version })), stateBadge(exam), exam.is_switched && h("span", { class: "badge good" }, t("tests.switched"))),
    h("p", { class: "fact" }, score(exam)),
    !OVER.includes(exam.state) && h("progress", { value: exam.done, max: exam.questions || 1, "aria-label": t("tests.progress") }),
    exam.cause && h("p", { class: "notice lit" }, exam.cause.message),
    !exam.is_of_today && h("p", { class: "quiet" }, t("tests.old_how")),
    h("p", { class: "quiet" }, `${exam.model} · ${money(exam.dollars)} · ${when(exam.created_at)}`),
    may("write") && h("div", { class: "row" },
      !OVER.includes(exam.state) && h("button", { onclick: act("cancel") }, t("tests.cancel")),
      RESTING.includes(exam.state) && h("button", { class: "primary", onclick: higher }, t("tests.continue"))),
  ];
}

function listResults(path) {
  return paged(`${path}/results?limit=100`, (results, { compared_version: before }) => {
    const columns = [t("tests.question"), t("tests.result"), before ? t("tests.since", { n: before }) : t("tests.change"), t("tests.expected"), [t("records.steps"), "num"], [t("records.time"), "num"], [t("record.money"), "num"]];
    return table(t("tests.results"), columns, results.map((result) => [
      result.run_id ? h("a", { href: `${base}/records/${result.run_id}` }, result.question) : result.question,
      h("span", { class: "chips" }, result.outcome === null ? t("tests.not_asked") : [h("span", { class: `badge ${result.is_passed ? "good" : "bad"}` }, t(result.is_passed ? "tests.passed" : "tests.failed")), outcomeBadge(result.outcome)],
        result.source_hit === false && h("span", { class: "badge bad" }, t("tests.missed"))),
      result.change ? h("span", { class: `badge ${{ better: "good", worse: "bad", same: "" }[result.change]}` }, t(`tests.change.${result.change}`)) : "—",
      expected(result),
      count(result.steps),
      span(result.ms),
      result.dollars === null ? "—" : money(result.dollars),
    ]));
  });
}
