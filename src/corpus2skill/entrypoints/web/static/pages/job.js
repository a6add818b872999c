// One job, live: its state in words and what to do, six lanes, what it spent, what did not come through.

import { base, get } from "../api.js";
import { at, h, put } from "../dom.js";
import { cancelButton, jobNotice } from "../job_actions.js";
import { howFar, isEnded, jobBadge, modelsOf, spentOf, stageNow } from "../job_words.js";
import { lanes } from "../lanes.js";
import { failure, page } from "../shell.js";
import { watch } from "../stream.js";
import { table } from "../table.js";
import { count, money, span, t, timeOf, when } from "../text.js";

const path = `/jobs/${encodeURIComponent(at("page").dataset.job)}`;

page(async () => {
  const job = await get(path);
  return new JobPage(job).build(await get(`/corpora/${encodeURIComponent(job.corpus)}`).catch(() => null));
});

class JobPage {
  constructor(job) {
    Object.assign(this, { job, waiting: 0, told: [], lanes: lanes(), leave: null });
    this.status = h("p", { class: "unseen", role: "status" });
    this.state = h("span");
    this.notice = h("div", { class: "stack" });
    this.facts = h("dl", { class: "facts" });
    this.items = h("div");
    this.events = h("ol", { class: "events" });
  }

  build(corpus) {
    const title = corpus?.title || this.job.corpus;
    document.title = `${t("title.job")} - ${title} - Corpus2Skill`;
    this.crumbs(title);
    this.show(this.job);
    this.watch();
    return [this.status, h("div", { class: "row" }, this.state), this.notice,
      h("section", { class: "card", "aria-labelledby": "lanes" }, h("h2", { id: "lanes" }, t("job.stages")), this.lanes.list),
      h("div", { class: "halves" },
        h("section", { class: "card", "aria-labelledby": "facts" }, h("h2", { id: "facts" }, t("job.facts")), this.facts),
        h("section", { class: "card", "aria-labelledby": "events" }, h("h2", { id: "events" }, t("job.events")), this.events)),
      this.items];
  }

  crumbs(title) {
    const way = `${base}/c/${encodeURIComponent(this.job.corpus)}`;
    at("title").parentElement.before(h("nav", { "aria-label": t("corpus_tabs.way") }, h("ol", { class: "crumbs" },
      [[`${base}/knowledge`, t("nav.knowledge")], [`${way}/documents`, title], [`${way}/jobs`, t("corpus_tabs.jobs")]].map(([href, words]) => h("li", {}, h("a", { href }, words))))));
  }

  /** All that happened is told again from the first event: the list below is made of it. */
  watch() {
    this.leave?.();
    this.told = [];
    put(this.events);
    this.leave = watch(`job:${this.job.job_id}`, 0, (event) => this.heard(event));
  }

  heard({ event, data }) {
    if (event === "stream.lost") return; // it is told when it is back
    if (event === "job.progress") {
      this.lanes.show(data.stages);
      this.say({ ...this.job, stages: data.stages });
      this.showFacts({ ...this.job, spent: data.money });
      return;
    }
    this.tell(event, data);
    clearTimeout(this.waiting); // many come at once when a page opens
    this.waiting = setTimeout(() => this.reload(), 150);
  }

  tell(event, data) {
    const words = event === "job.item_failed" ? [t("job.item_failed"), " ", data.source] : [h("time", { datetime: data.at, class: "num", title: when(data.at) }, timeOf(data.at)), " ", t(`job.state.${data.is_cancelling ? "cancelling" : data.state}`)];
    this.events.append(h("li", {}, words));
  }

  async reload() {
    try {
      this.show(await get(path));
    } catch (error) {
      put(this.notice, failure(error, () => this.reload()));
    }
  }

  /** An action begins a stream anew that had ended. */
  changed(job) {
    const wasEnded = isEnded(this.job);
    this.show(job);
    if (wasEnded && !isEnded(job)) this.watch();
  }

  show(job) {
    const isOther = job.state !== this.shown || job.is_cancelling !== this.job.is_cancelling || JSON.stringify(job.waiting) !== JSON.stringify(this.job.waiting);
    this.job = job;
    this.lanes.show(job.stages);
    this.showFacts(job);
    this.say(job);
    put(this.state, jobBadge(job), " ", !isEnded(job) && h("span", { class: "quiet" }, howFar(job)));
    if (isOther) {
      put(this.notice, jobNotice(job, (now) => this.changed(now)));
      put(at("title-actions"), cancelButton(job, (now) => this.changed(now)));
    }
    // What was seen to end here may have made another version live: the head says which.
    if (this.shown && job.state !== this.shown && isEnded(job)) dispatchEvent(new Event("corpus2skill:live"));
    this.shown = job.state;
    put(this.items, failedItems(job));
  }

  /** Said when the state or the stage is another one, not with every step. */
  say(job) {
    const words = job.state === "running" ? t("job.said", { stage: t(`stage.${stageNow(job).stage}`) }) : t(`job.state.${job.state}`);
    if (this.status.textContent !== words) this.status.textContent = words;
    if (job.state === "running") put(this.state, jobBadge(job), " ", h("span", { class: "quiet" }, howFar(job)));
  }

  showFacts(job) {
    const { spent } = job;
    const cap = job.options.max_cost;
    const rows = [
      [t("job.spent"), h("strong", {}, spentOf(job))],
      cap !== null && [t("job.cap"), money(cap)],
      spent.calls + spent.reused > 0 && [t("compile.calls"), t("job.calls_n", { calls: count(spent.calls), reused: count(spent.reused) })],
      spent.calls > 0 && [t("compile.tokens"), t("compile.tokens_n", { input: count(spent.input_tokens), output: count(spent.output_tokens) })],
      [t("compile.model"), modelsOf(job)],
      [t("job.begun"), when(job.started_at ?? job.created_at)],
      job.ended_at && job.started_at && [t("job.took"), span(new Date(job.ended_at) - new Date(job.started_at))],
      job.attempt > 1 && [t("job.attempts"), count(job.attempt)],
    ];
    put(this.facts, rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }
}

function failedItems(job) {
  if (!job.failed_count) return null;
  const link = (source) => h("a", { href: `${base}/c/${encodeURIComponent(job.corpus)}/documents?${new URLSearchParams({ name: source })}` }, source);
  return [
    table(t("job.failed_items", { n: count(job.failed_count) }), [t("document.name"), t("document.found"), t("job.reason")],
      job.failed_items.map((item) => [link(item.source), t(`verdict.${item.verdict}`), item.reason])),
    h("p", { class: "quiet" }, t("job.failed_items_how")),
  ];
}
