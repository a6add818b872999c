// All corpora: what state each is in, and the ways on.

import { base, get, query } from "../api.js";
import { at, h, icon, put } from "../dom.js";
import { may } from "../form.js";
import { howFar, jobBadge, jobPath, isEnded } from "../job_words.js";
import { corpusFields, createCorpus } from "../new_corpus.js";
import { ask, busy, page } from "../shell.js";
import { count, t } from "../text.js";

const known = [];

page(async () => {
  const [found, { data: jobs }] = await Promise.all([get("/corpora?limit=50"), get("/jobs?limit=100")]);
  known.push(...found.data.map(({ corpus }) => corpus));
  if (may("write")) put(at("title-actions"), h("button", { class: "primary", onclick: create }, t("knowledge.create")));
  if (!found.data.length) return nothing();
  const newest = new Map([...jobs].reverse().map((job) => [job.corpus, job]));
  const cards = h("ul", { class: "cards corpora" }, found.data.map((corpus) => card(corpus, newest)));
  return [cards, more(found.next_cursor, cards, newest)];
});

const nothing = () =>
  h("div", { class: "empty" }, h("h2", {}, t("knowledge.nothing")), h("p", {}, t(may("write") ? "knowledge.nothing_how" : "knowledge.nothing_wait")),
    may("write") && h("a", { class: "button", href: `${base}/welcome` }, t("title.welcome")));

function more(cursor, cards, newest) {
  if (!cursor) return null;
  const button = h("button", { onclick: () => busy(button, async () => {
    const found = await get(`/corpora${query({ limit: 50, cursor })}`);
    known.push(...found.data.map(({ corpus }) => corpus));
    cards.append(...found.data.map((corpus) => card(corpus, newest)));
    cursor = found.next_cursor;
    if (!cursor) button.remove();
  }) }, t("more"));
  return h("div", {}, button);
}

function card(corpus, newest) {
  const path = `${base}/c/${encodeURIComponent(corpus.corpus)}`;
  const documents = corpus.documents;
  const present = ["received", "accepted", "refused", "duplicate"].reduce((sum, state) => sum + (documents[state] ?? 0), 0);
  const job = newest.get(corpus.corpus);
  const link = (screen, words, kind = "") => h("a", { class: `button ${kind}`, href: `${path}/${screen}` }, words);
  return h("li", { class: "card" },
    h("header", {}, h("h2", {}, h("a", { href: `${path}/documents` }, corpus.title || corpus.corpus)), state(corpus)),
    h("dl", { class: "facts" },
      h("dt", {}, t("corpus.name")), h("dd", { class: "mono" }, corpus.corpus),
      h("dt", {}, t("title.documents")), h("dd", {}, t("knowledge.documents", { n: count(present) }),
        documents.refused > 0 && [" · ", h("a", { href: `${path}/documents?state=refused` }, t("knowledge.refused", { n: count(documents.refused) }))],
        documents.received > 0 && ` · ${t("knowledge.received", { n: count(documents.received) })}`),
      h("dt", {}, t("title.versions")), h("dd", {}, h("a", { href: `${path}/versions` }, t("knowledge.versions", { n: count(corpus.versions) })))),
    job && !(job.state === "succeeded") && h("a", { class: "line", href: jobPath(job) }, h("span", { class: "grow" }, t("title.job")), !isEnded(job) && h("small", {}, howFar(job)), jobBadge(job)),
    h("div", { class: "row ways" },
      corpus.active_version && h("a", { class: "button primary", href: `${base}/talk${query({ corpus: corpus.corpus })}` }, icon("talk", 18), t("knowledge.ask")),
      corpus.active_version && link("tree", t("corpus_tabs.tree")),
      may("write") && !corpus.active_version && (present ? link("compile", t("corpus_tabs.compile"), "primary") : link("documents", t("knowledge.upload"), "primary"))));
}

function state(corpus) {
  if (corpus.is_damaged) return h("span", { class: "badge bad" }, t("knowledge.damaged"));
  if (corpus.active_version) return h("span", { class: "badge good" }, t("knowledge.live", { n: corpus.active_version }));
  return h("span", { class: "badge" }, t("knowledge.not_live"));
}

async function create() {
  let made;
  const isDone = await ask({ title: t("knowledge.create"), body: corpusFields(known), yes: t("knowledge.create_yes"), work: async (form) => { made = await createCorpus(form); } });
  if (isDone) location.assign(`${base}/c/${encodeURIComponent(made.corpus)}/documents`);
}
