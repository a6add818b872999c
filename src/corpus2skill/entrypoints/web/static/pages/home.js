// Home: four facts, and what waits for a person.

import { base, get, query } from "../api.js";
import { h, put } from "../dom.js";
import { may } from "../form.js";
import { howFar, jobBadge, jobPath, NEEDS_PERSON } from "../job_words.js";
import { failure, page, waiting } from "../shell.js";
import { ago, count, midnight, money, t } from "../text.js";

const SHOWN = 5;
const corpusPath = (corpus, screen) => `${base}/c/${encodeURIComponent(corpus.corpus ?? corpus)}/${screen}`;

page(async () => {
  const { data: corpora } = await get("/corpora?limit=200");
  if (!corpora.length && may("write")) {
    location.replace(`${base}/welcome`);
    return waiting();
  }
  if (!corpora.length) return h("div", { class: "empty" }, h("h2", {}, t("home.nothing")), h("p", {}, t("home.nothing_how")));
  return h("div", { class: "cards home" },
    fact("live", () => live(corpora)),
    fact("jobs", () => jobs(corpora)),
    may("records") && fact("unanswered", unanswered),
    may("write") && fact("spent", spent));
});

/** A card that fills itself: one that fails leaves the others alone. */
function fact(name, load) {
  const place = h("div", { class: "stack" }, waiting());
  const fill = () => load().then((found) => put(place, found), (error) => put(place, failure(error, fill)));
  fill();
  return h("section", { class: "card", "aria-labelledby": `fact-${name}` }, h("h2", { id: `fact-${name}` }, t(`home.${name}`)), place);
}

async function live(corpora) {
  const found = corpora.filter((corpus) => corpus.active_version);
  const lines = await Promise.all(found.slice(0, SHOWN).map(async (corpus) => {
    const version = await get(`/corpora/${encodeURIComponent(corpus.corpus)}/versions/${corpus.active_version}`);
    return h("li", {}, h("a", { class: "line", href: corpusPath(corpus, "tree") }, h("span", { class: "grow" }, corpus.title || corpus.corpus),
      h("small", {}, t("home.version", { n: corpus.active_version }), version.created_at && ` · ${ago(version.created_at)}`)));
  }));
  return [
    h("p", { class: "fact" }, t("home.live_of", { live: count(found.length), all: count(corpora.length) })),
    lines.length > 0 ? h("ul", { class: "lines" }, lines) : h("p", { class: "quiet" }, t("home.none_live")),
    h("a", { href: `${base}/knowledge` }, t("home.all_corpora")),
  ];
}

/** A failed job needs nobody once a later one of its corpus went well. */
async function jobs(corpora) {
  const { data } = await get("/jobs?limit=100");
  const titles = new Map(corpora.map((corpus) => [corpus.corpus, corpus.title || corpus.corpus]));
  const newest = [...new Map([...data].reverse().map((job) => [job.corpus, job])).values()];
  const waiting = newest.filter((job) => NEEDS_PERSON.includes(job.state));
  const running = newest.filter((job) => ["running", "queued"].includes(job.state));
  const lines = [...waiting, ...running].slice(0, SHOWN).map((job) => h("li", {}, h("a", { class: "line", href: jobPath(job) },
    h("span", { class: "grow" }, titles.get(job.corpus) ?? job.corpus), job.state === "running" && h("small", {}, howFar(job)), jobBadge(job))));
  return [
    h("p", { class: "fact" }, count(waiting.length)),
    lines.length > 0 ? h("ul", { class: "lines" }, lines) : h("p", { class: "quiet" }, t("home.no_jobs")),
  ];
}

async function unanswered() {
  const asked = "reason=not_found&reason=fetch_limit";
  const since = midnight().toISOString();
  const [found, today] = await Promise.all([get(`/queue?${asked}&${query({ since, limit: 50 }).slice(1)}`), get(`/records${query({ since, limit: 1 })}`)]);
  const lines = found.data.slice(0, SHOWN).map(({ record }) => h("li", {}, h("a", { class: "line", href: `${base}/records/${encodeURIComponent(record.run_id)}` },
    h("span", { class: "grow one-line" }, record.question), h("small", {}, ago(record.started_at)))));
  return [
    h("p", { class: "fact" }, found.next_cursor ? t("home.at_least", { n: count(found.data.length) }) : count(found.data.length)),
    lines.length > 0 ? h("ul", { class: "lines" }, lines) : h("p", { class: "quiet" }, t(today.data.length ? "home.all_answered" : "home.none_asked")),
    h("a", { href: `${base}/queue` }, t("home.queue")),
  ];
}

async function spent() {
  const { month } = await get("/usage");
  const share = month.cap ? month.dollars / month.cap : null;
  return [
    h("p", { class: "fact" }, money(month.dollars), month.cap !== null && h("small", {}, ` / ${money(month.cap)}`)),
    share !== null && h("progress", { max: 1, value: Math.min(1, share), "aria-label": t("home.share") }),
    month.unpriced_calls > 0 && h("p", { class: "quiet" }, t("home.unpriced", { n: count(month.unpriced_calls) })),
    month.cap === null && h("p", { class: "quiet" }, t("home.no_cap")),
    h("a", { href: `${base}/settings/limits` }, t("title.limits")),
  ];
}
