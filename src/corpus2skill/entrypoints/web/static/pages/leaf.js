// A leaf in its place in the original: the text in order with the passage marked, and the way back to the answer.

import { base, get, pages, query } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { at, h, icon, put } from "../dom.js";
import { may } from "../form.js";
import { pagePictures } from "../page_pictures.js";
import { copyButton, leafAddress, nodeAddress, records } from "../node_card.js";
import { busy, page } from "../shell.js";
import { t } from "../text.js";

const { version, leaf: docId } = at("page").dataset;
const run = new URLSearchParams(location.search).get("run");
const place = { corpus: name, version: Number(version), pathOf, apiOf };

page(async () => {
  const [corpus, leaf, answer] = await Promise.all([
    corpusTabs("tree"),
    get(`${apiOf}/versions/${version}/leaves/${encodeURIComponent(docId)}`).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    }),
    run && get(`/runs/${encodeURIComponent(run)}`).catch(() => null),
  ]);
  if (!leaf) return [answer && back(answer), gone()];
  at("title").textContent = leaf.title;
  document.title = `${leaf.title} - ${corpus.title || name} - Corpus2Skill`;
  const text = h("div", { class: "original" }, neighbours(leaf));
  requestAnimationFrame(() => show(text));
  return [
    answer && back(answer),
    corpus.active_version !== place.version && corpus.active_version && h("p", { class: "notice" }, t("leaf.old", { version, active: corpus.active_version })),
    h("div", { class: "two leaf" },
      h("section", { class: "card", "aria-label": t("leaf.text") }, ends(leaf), text, whole(leaf, text), ends(leaf), pagePictures(leaf)),
      h("aside", { class: "stack" }, about(leaf), original(leaf), may("records") && citing())),
  ];
});

/** The passage comes into sight; from an answer, keyboard and screen reader go on there. */
function show(text) {
  const here = text.querySelector(".here");
  here.scrollIntoView({ block: "center" });
  if (run) here.focus({ preventScroll: true });
}

function gone() {
  return h("div", { class: "empty" }, h("h2", {}, t("leaf.gone")), h("p", {}, t("leaf.gone_how", { version, leaf: docId })),
    h("a", { class: "button primary", href: `${pathOf}/tree` }, t("title.tree")));
}

/** The way back to the answer that this is a source of, and its other sources. */
function back(answer) {
  const shown = answer.citations.length ? answer.citations : answer.evidence;
  const cameFromRecord = document.referrer.startsWith(`${location.origin}${base}/records/`);
  const to = cameFromRecord ? document.referrer : `${base}/talk${query({ corpus: name, session: answer.session_id })}#${answer.run_id}`;
  return h("section", { class: "notice lit", "aria-label": t("leaf.from") },
    h("p", {}, t("leaf.asked", { question: answer.question })),
    h("div", { class: "row" }, h("a", { class: "button", id: "back-to-answer", href: to }, t("leaf.back")),
      shown.map((source) => h("a", { class: "button chip", href: `${leafAddress({ ...place, version: answer.version }, source.doc_id)}?run=${answer.run_id}`, "aria-current": source.doc_id === docId && "true", "aria-label": t("sources.number", source) }, source.n))));
}

/** To the passages before and behind. */
function ends(leaf) {
  const link = (chunk, word, rel) => chunk && h("a", { class: "button", rel, href: `${leafAddress(place, chunk.doc_id)}${run ? `?run=${run}` : ""}` }, t(word));
  return h("div", { class: "row" }, link(leaf.before, "leaf.before", "prev"), link(leaf.after, "leaf.after", "next"));
}

const part = (chunk, isHere) =>
  h("section", { class: isHere ? "part here" : "part", id: isHere && "here", tabindex: isHere && -1, "aria-label": isHere ? t("leaf.here") : null },
    isHere && h("div", { class: "row" }, h("span", { class: "badge lit" }, t("leaf.here"))),
    !isHere && h("a", { class: "quiet part-name", href: leafAddress(place, chunk.doc_id) }, [chunk.title, chunk.place && !chunk.place.includes(chunk.title) && ` (${chunk.place})`]),
    chunk.table_header && h("small", { class: "quiet" }, t("leaf.table_header", { header: chunk.table_header })),
    h("div", {}, chunk.text));

function neighbours({ before, chunk, after }) {
  return [before && part(before), part(chunk, true), after && part(after)].filter(Boolean);
}

/** Everything that was read of the document, fetched when a person wants it. */
function whole(leaf, text) {
  if (!leaf.before && !leaf.after) return null;
  const button = h("button", { onclick: () => busy(button, async () => {
    const all = [];
    for await (const chunks of chunkPages(leaf.source)) all.push(...chunks);
    put(text, all.map((chunk) => part(chunk, chunk.doc_id === leaf.doc_id)));
    show(text);
    button.hidden = true;
  }) }, t("leaf.whole"));
  return h("div", { class: "row" }, button);
}

const chunkPages = (source) => pages(`${apiOf}/versions/${version}/sources/text${query({ source, limit: 200 })}`);

function about(leaf) {
  const fact = (word, value) => value && [h("dt", {}, t(word)), h("dd", {}, value)];
  return h("section", { class: "card", "aria-labelledby": "about" }, h("h2", { id: "about" }, t("leaf.about")),
    h("p", {}, leaf.summary),
    leaf.is_stand_in && h("p", { class: "notice lit" }, t("leaf.stand_in")),
    h("dl", { class: "facts" },
      fact("tree.document", leaf.source),
      fact("leaf.document_title", leaf.document_title !== leaf.source && leaf.document_title),
      fact("tree.place", leaf.chunk.place),
      fact("corpus_tabs.versions", h("a", { href: `${pathOf}/versions` }, version)),
      fact("tree.doc_id", h("code", {}, leaf.doc_id)),
      leaf.twins.length > 0 && fact("leaf.twins", leaf.twins.map((twin) => h("a", { href: leafAddress(place, twin) }, `${twin} `)))),
    h("div", { class: "row" }, copyButton(leaf.doc_id, t("tree.copy_id")), h("a", { class: "button", href: nodeAddress(place, leaf.chunk.path) }, t("leaf.in_tree"))));
}

/** The document as it was handed in. One that is gone or was changed since says so. */
function original(leaf) {
  const { original: file } = leaf;
  return h("section", { class: "card", "aria-labelledby": "file" }, h("h2", { id: "file" }, t("leaf.file")),
    file ? h("p", {}, h("a", { href: `${pathOf}/documents/${file.document_id}` }, file.name)) : h("p", { class: "notice" }, t("leaf.no_file")),
    file && !file.is_same && h("p", { class: "notice lit" }, t(file.name === leaf.source ? "leaf.changed" : "leaf.within")),
    file && h("div", {}, h("a", { class: "button", href: file.download, download: file.name }, icon("file"), t("leaf.download"))));
}

/** Answers that cite this passage: who may see everybody's conversations sees the newest. */
function citing() {
  const list = h("ul", { class: "plain-list" });
  const said = h("p", { class: "quiet" });
  get(`/records${query({ corpus: name, version, cited: docId, limit: 5 })}`).then(({ data, next_cursor }) => {
    put(list, data.map((line) => h("li", {}, h("a", { href: `${base}/records/${line.run_id}` }, line.question))));
    put(said, data.length ? next_cursor && h("a", { href: records(place, { cited: docId }) }, t("leaf.all_citing")) : t("leaf.none_citing"));
  }, (error) => put(said, error.message));
  return h("section", { class: "card", "aria-labelledby": "citing" }, h("h2", { id: "citing" }, t("leaf.citing")), list, said);
}
