// The jobs of a corpus, the newest first. While one is under way the list is looked at again every few seconds.

import { get, query } from "../api.js";
import { apiOf, corpusTabs, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { may } from "../form.js";
import { howFar, isEnded, jobBadge, jobPath, spentOf } from "../job_words.js";
import { busy, page } from "../shell.js";
import { table, tableRow } from "../table.js";
import { ago, count, t, when } from "../text.js";

const PAUSE = 3000;
const COLUMNS = [t("jobs.begun"), t("jobs.state"), t("jobs.how_far"), [t("jobs.spent"), "num"], [t("jobs.version"), "num"], [t("jobs.seen"), "num"]];

page(async () => {
  const [, found] = await Promise.all([corpusTabs("jobs"), get(`${apiOf}/jobs?limit=50`)]);
  if (may("write")) put(at("title-actions"), h("a", { class: "button primary", href: `${pathOf}/compile` }, t("corpus_tabs.compile")));
  if (!found.data.length) return h("div", { class: "empty" }, h("h2", {}, t("jobs.none")), h("p", {}, t("jobs.none_how")));
  const made = table(t("jobs.caption"), COLUMNS, found.data.map(cells));
  follow(made.querySelector("tbody"), found.data);
  return [made, more(made.querySelector("tbody"), found.next_cursor)];
});

const cells = (job) => [
  h("a", { href: jobPath(job) }, when(job.created_at)),
  h("div", { class: "found" }, jobBadge(job), job.cause && !isEnded(job) && h("small", {}, job.cause.message)),
  howFar(job),
  spentOf(job),
  job.version ? t("home.version", { n: count(job.version) }) : "—",
  h("time", { datetime: job.state_at, title: when(job.state_at) }, ago(job.state_at)),
];

/** Only rows that changed are put anew, so that a focus on another one stays. */
function follow(body, jobs) {
  const shown = new Map(jobs.map((job, i) => [job.job_id, { row: body.children[i], text: JSON.stringify(job) }]));
  const look = async () => {
    const found = document.hidden ? null : await get(`${apiOf}/jobs?limit=50`).catch(() => null);
    for (const job of [...(found?.data ?? [])].reverse()) {
      const text = JSON.stringify(job);
      const known = shown.get(job.job_id);
      if (known?.text === text) continue;
      if (isEnded(job)) dispatchEvent(new Event("corpus2skill:live")); // the head says which version is live
      const row = tableRow(COLUMNS, cells(job));
      if (known) known.row.replaceWith(row);
      else body.prepend(row);
      shown.set(job.job_id, { row, text });
    }
    if (!found || found.data.some((job) => !isEnded(job))) setTimeout(look, PAUSE);
  };
  if (jobs.some((job) => !isEnded(job))) setTimeout(look, PAUSE);
}

function more(body, cursor) {
  if (!cursor) return null;
  const button = h("button", { onclick: () => busy(button, async () => {
    const found = await get(`${apiOf}/jobs${query({ limit: 50, cursor })}`);
    body.append(...found.data.map((job) => tableRow(COLUMNS, cells(job))));
    cursor = found.next_cursor;
    if (!cursor) button.remove();
  }) }, t("more"));
  return h("div", {}, button);
}
