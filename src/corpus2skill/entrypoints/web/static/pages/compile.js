// Before a compile: what is free is done first, then the estimate is shown, then a person starts it under a cap.

import { base, get, post } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { h, put } from "../dom.js";
import { estimateCard, proposedCap } from "../estimate.js";
import { field, may, notAllowed, tick } from "../form.js";
import { isEnded, jobBadge, jobPath } from "../job_words.js";
import { busy, failure, page } from "../shell.js";
import { watch } from "../stream.js";
import { count, t } from "../text.js";

page(async () => {
  const corpus = corpusTabs("compile");
  if (!may("write")) return corpus.then(() => notAllowed("write"));
  const [, documents, { settings }, { data: jobs }] = await Promise.all([
    corpus, get(`${apiOf}/documents?limit=1&counts=true`), get("/settings"), get(`${apiOf}/jobs?limit=1`),
  ]);
  return new Compile(documents, settings, jobs[0]).build();
});

class Compile {
  constructor({ counts, last_event: last }, settings, newest) {
    Object.assign(this, { counts, last, settings, newest, estimate: null });
    this.free = h("ol", { class: "checks" });
    this.shown = h("div", { class: "stack", "aria-live": "polite" });
  }

  build() {
    watch(`documents:${name}`, this.last, ({ event }) => event === "stream.lost" || this.changed());
    this.form = h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); this.start(); } }, this.free, this.options(), this.shown);
    this.estimateNow();
    const running = this.newest && !isEnded(this.newest);
    return [running && h("p", { class: "notice lit row" }, t("compile.running"), jobBadge(this.newest), h("a", { href: jobPath(this.newest) }, t("compile.see_job"))), this.form];
  }

  options() {
    const own = this.settings.model?.value;
    const choices = [["", own ? t("compile.as_set", { model: own === "offline" ? t("compile.offline") : own }) : t("compile.by_default")], ...(own === "offline" ? [] : [["offline", t("compile.offline")]]), ["other", t("compile.other")]];
    const other = field({ label: t("compile.model_name"), hint: t("compile.model_how"), name: "other", maxlength: 200, class: "mono" });
    other.hidden = true;
    const choice = field({ label: t("compile.model"), name: "model", choices });
    const again = () => (other.hidden || other.querySelector("input").value.trim()) && this.estimateNow();
    choice.addEventListener("change", (event) => { other.hidden = event.target.value !== "other"; again(); });
    other.addEventListener("change", again);
    const more = h("details", {}, h("summary", {}, t("compile.more")), ["regroup", "strict", "batch"].map((option) => tick({ label: t(`compile.${option}`), hint: t(`compile.${option}_how`), name: option })));
    more.addEventListener("change", (event) => ["regroup", "batch"].includes(event.target.name) && this.estimateNow());
    return [choice, other, more];
  }

  asked() {
    const form = new FormData(this.form);
    const model = form.get("model") === "other" ? form.get("other").trim() : form.get("model");
    return { model: model || null, regroup: form.has("regroup"), strict: form.has("strict"), batch: form.has("batch") };
  }

  /** Documents that change meanwhile outdate what is being made: the newest one counts. */
  async estimateNow() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.estimate = null;
    this.showFree(false);
    put(this.shown, h("p", { class: "wait" }, t("compile.estimating")));
    try {
      const found = await post(`${apiOf}/jobs?dry_run=true`, this.asked());
      if (turn !== this.turn) return;
      this.estimate = found;
      this.showFree(true);
      put(this.shown, estimateCard(found), this.startRow(found));
    } catch (error) {
      if (turn === this.turn) put(this.shown, failure(error, () => this.estimateNow()), h("a", { class: "button", href: `${pathOf}/documents` }, t("compile.to_documents")));
    }
  }

  showFree(isCut) {
    const { received = 0, accepted = 0 } = this.counts;
    const line = (isDone, words) => h("li", {}, h("span", { class: `badge ${isDone ? "good" : "busy"}` }, t(isDone ? "compile.done" : "compile.doing")), words);
    put(this.free, line(!received, received ? t("compile.looking", { n: count(received) }) : t("compile.looked", { n: count(accepted) })), line(isCut, t("compile.cut")));
  }

  startRow(estimate) {
    const isPaid = estimate.lines.length > 0;
    const cap = isPaid && field({ label: t("compile.cap"), hint: t("compile.cap_how"), name: "max_cost", type: "number", min: 0.01, step: 0.01, inputmode: "decimal", value: proposedCap(estimate, this.settings.max_cost?.value) });
    this.button = h("button", { class: "primary" }, t("compile.start"));
    return h("section", { class: "card", "aria-label": t("compile.start") }, cap,
      isPaid && !estimate.dollars && h("p", { class: "notice lit" }, t("compile.price_unknown")),
      h("div", { class: "row" }, this.button, h("a", { class: "button plain", href: `${pathOf}/documents` }, t("compile.back"))));
  }

  start() {
    if (!this.estimate) return;
    const cap = new FormData(this.form).get("max_cost");
    busy(this.button, async () => {
      try {
        const job = await post(`${apiOf}/jobs`, { ...this.asked(), estimate_id: this.estimate.estimate_id, max_cost: cap ? Number(cap) : null });
        location.assign(`${base}/jobs/${encodeURIComponent(job.job_id)}`);
      } catch (error) {
        if (error.status !== 412) throw error;
        this.expire();
      }
    });
  }

  async changed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(async () => { this.counts = (await get(`${apiOf}/documents?limit=1&counts=true`)).counts; this.showFree(this.estimate !== null); }, 400);
    if (this.estimate) this.expire();
  }

  /** Nobody starts what was not shown. */
  expire() {
    this.estimate = null;
    const again = h("button", { type: "button", class: "primary", onclick: () => this.estimateNow() }, t("compile.again"));
    put(this.shown, h("div", { class: "notice lit" }, h("p", {}, t("compile.outdated")), h("div", {}, again)));
    again.focus({ preventScroll: true });
  }
}
