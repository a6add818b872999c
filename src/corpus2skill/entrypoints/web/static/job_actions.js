// What a person can do about a job in each of its states, with the reason in words.

import { base, post } from "./api.js";
import { h } from "./dom.js";
import { field, may } from "./form.js";
import { ask, busy } from "./shell.js";
import { count, t, when } from "./text.js";

const path = (job) => `/jobs/${encodeURIComponent(job.job_id)}`;
const corpusPath = (job, screen) => `${base}/c/${encodeURIComponent(job.corpus)}/${screen}`;

/** The notice of a state and its buttons; `changed(job)` is told what an action made of the job. */
export function jobNotice(job, changed) {
  const make = { waiting_for_key: waitsForKey, paused_budget: paused, stalled, failed, cancelled, succeeded }[job.state];
  if (!make) return job.waiting && h("p", { class: "notice lit" }, job.waiting.message);
  return make(job, changed);
}

export function cancelButton(job, changed) {
  if (!may("write") || !["queued", "running", "waiting_for_key", "paused_budget", "stalled"].includes(job.state)) return null;
  const work = async () => changed(await post(`${path(job)}/cancel`));
  return h("button", { class: "danger", disabled: job.is_cancelling, onclick: () => ask({ title: t("job.cancel_title"), body: h("p", {}, t("job.cancel_how")), yes: t("job.cancel"), isDanger: true, work }) }, t(job.is_cancelling ? "job.state.cancelling" : "job.cancel"));
}

const notice = (kind, job, ...content) => h("div", { class: `notice ${kind}` }, job.cause && h("p", {}, job.cause.message), content);

function retry(job, changed, words = t("job.retry"), wanted = {}) {
  if (!may("write")) return h("p", { class: "quiet" }, t("job.ask_editor"));
  const button = h("button", { class: "primary", onclick: () => busy(button, async () => changed(await post(`${path(job)}/retry`, wanted))) }, words);
  return button;
}

function waitsForKey(job, changed) {
  const link = may("admin") ? h("a", { class: "button primary", href: `${base}/settings/keys` }, t("job.to_keys")) : h("p", {}, t("job.ask_owner"));
  return notice("lit", job, h("p", {}, t("job.key_how")), h("div", { class: "row" }, link, may("write") && retryPlain(job, changed)));
}

function retryPlain(job, changed) {
  const button = retry(job, changed);
  button.classList.remove("primary");
  return button;
}

function paused(job, changed) {
  if (job.cause?.code === "month_cap_reached")
    return notice("lit", job, h("div", { class: "row" }, h("a", { class: "button primary", href: `${base}/settings/limits` }, t("job.to_limits"))));
  if (!may("write")) return notice("lit", job, h("p", {}, t("job.ask_editor")));
  const least = Math.max(job.spent.dollars ?? 0, job.options.max_cost ?? 0, job.estimate?.dollars?.high ?? 0);
  const cap = field({ label: t("job.new_cap"), hint: t("job.new_cap_how"), name: "max_cost", type: "number", min: 0.01, step: 0.01, inputmode: "decimal", required: true, value: Math.max(0.02, Math.ceil(least * 200) / 100) });
  const button = h("button", { class: "primary" }, t("job.continue"));
  const form = h("form", { class: "stack", onsubmit: (event) => {
    event.preventDefault();
    busy(button, async () => changed(await post(`${path(job)}/continue`, { max_cost: Number(new FormData(form).get("max_cost")) })));
  } }, cap, h("div", {}, button));
  return notice("lit", job, form);
}

const stalled = (job, changed) => notice("lit", job, h("p", {}, job.retry_at ? t("job.retry_at", { when: when(job.retry_at) }) : t("job.stalled_how")), h("div", {}, retry(job, changed)));

function failed(job, changed) {
  if (job.cause?.code !== "many_sources_gone") return notice("bad", job, h("p", {}, t("job.failed_how")), h("div", {}, retry(job, changed)));
  const { gone, had, first } = job.cause.values;
  return h("div", { class: "notice bad" }, h("p", {}, t("job.many_gone", { gone: count(gone), had: count(had), first })), h("div", { class: "row" }, retry(job, changed, t("job.confirm_gone"), { confirmed: true }), h("a", { class: "button", href: corpusPath(job, "documents") }, t("title.documents"))));
}

const cancelled = (job, changed) => notice("", job, h("p", {}, t("job.cancelled_how")), h("div", {}, retry(job, changed, t("job.go_on"))));

function succeeded(job) {
  const words = !job.is_new ? "job.nothing_new" : job.is_activated ? "job.live" : "job.not_live";
  return h("div", { class: "notice" }, h("p", {}, t(words, { n: job.version })),
    job.warnings > 0 && h("p", {}, t("job.warnings", { n: count(job.warnings) })),
    job.stand_ins > 0 && h("p", {}, t("job.stand_ins", { n: count(job.stand_ins) })),
    h("div", { class: "row" },
      (job.is_activated || !job.is_new) && may("ask") && h("a", { class: "button primary", href: `${base}/talk?corpus=${encodeURIComponent(job.corpus)}` }, t("knowledge.ask")),
      h("a", { class: "button", href: corpusPath(job, "tree") }, t("corpus_tabs.tree")),
      h("a", { class: "button", href: corpusPath(job, "versions") }, t("corpus_tabs.versions"))));
}
