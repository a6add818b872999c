// What one node of a tree says: the same words that the model reads, and what a person wants to know beside them.

import { base, get, query } from "./api.js";
import { h, put } from "./dom.js";
import { may } from "./form.js";
import { copied } from "./once.js";
import { count, t } from "./text.js";

/** `open(path)`: show another node. `place`: { corpus, version, pathOf, apiOf }. */
export function nodeCard(node, place, open) {
  const isLeaf = node.node_type === "document";
  return h("article", { class: "card", "aria-labelledby": "node-title" },
    above(node, place, open),
    h("header", {},
      h("h2", { id: "node-title", tabindex: -1 }, node.title || node.path),
      h("span", { class: "badge" }, t(isLeaf ? "tree.leaf" : "tree.branch"))),
    h("p", {}, summaryOf(node.content)),
    h("dl", { class: "facts" }, facts(node, place, isLeaf)),
    h("div", { class: "row" },
      isLeaf && h("a", { class: "button primary", href: leafAddress(place, node.doc_id) }, t("tree.original")),
      copyButton(isLeaf ? node.doc_id : node.path, t(isLeaf ? "tree.copy_id" : "tree.copy_path")),
      may("records") && h("a", { class: "button", href: records(place, { visited: node.path }) }, t("tree.conversations"))),
    !isLeaf && children(node, place, open),
    !isLeaf && sources(node, place),
    h("details", {}, h("summary", {}, t("tree.raw")), h("pre", {}, node.content)));
}

export const leafAddress = (place, docId) => `${place.pathOf}/versions/${place.version}/leaves/${encodeURIComponent(docId)}`;
export const nodeAddress = (place, path) => `${place.pathOf}/tree${query({ version: place.version, node: path })}`;
export const records = (place, more) => `${base}/records${query({ corpus: place.corpus, version: place.version, ...more })}`;

export const copyButton = (text, word) => h("button", { onclick: () => copied(text) }, word);

/** A link that opens a node here, and in another tab where a person asks for that. */
export function nodeLink(place, path, open, ...words) {
  return h("a", { href: nodeAddress(place, path), onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(path);
  } }, words);
}

function above(node, place, open) {
  if (!node.parents.length) return null;
  return h("nav", { "aria-label": t("tree.above") },
    h("ol", { class: "crumbs" }, node.parents.map(({ path, title }) => h("li", {}, nodeLink(place, path, open, title || path)))));
}

/** A node's file begins with its title and its summary; what follows has a heading. */
const summaryOf = (content) => content.split(/^#+ .*$/m)[1]?.trim() ?? "";

function facts(node, place, isLeaf) {
  const fact = (name, value) => [h("dt", {}, t(`tree.${name}`)), h("dd", {}, value)];
  return [
    isLeaf ? fact("document", node.source) : fact("leaf_count", count(node.leaves)),
    isLeaf && node.place && fact("place", node.place),
    node.parents.length > 0 && fact("visit_count", t("tree.visits_on", { n: count(node.visits), version: place.version })),
    fact("path", h("code", {}, node.path)),
    isLeaf && fact("doc_id", h("code", {}, node.doc_id)),
  ].filter(Boolean);
}

function children(node, place, open) {
  if (!node.branches.length) return h("p", { class: "notice" }, t("tree.no_children"));
  return h("section", { class: "stack", "aria-labelledby": "node-children" },
    h("h3", { id: "node-children" }, t("tree.children", { n: count(node.branches.length) })),
    h("ul", { class: "sources" }, node.branches.map((child) => h("li", {}, nodeLink(place, child.path, open,
      h("span", { class: "grow" }, h("strong", {}, child.title || child.name), h("small", { class: "quiet hint" }, child.hint)),
      child.node_type === "skill_summary" && h("small", { class: "quiet num" }, t("tree.leaves", { n: count(child.leaves) })))))));
}

/** The documents of a branch, asked for when a person opens the list. */
function sources(node, place) {
  const list = h("ul", { class: "plain-list" });
  const more = h("button", { hidden: true, onclick: () => load() }, t("more"));
  let cursor = null;
  const load = async () => {
    const found = await get(`${place.apiOf}/versions/${place.version}/sources${query({ under: node.path, limit: 50, cursor })}`);
    list.append(...found.data.map((source) => h("li", {}, source.document_id
      ? h("a", { href: `${place.pathOf}/documents/${source.document_id}` }, source.name) : source.name,
    " ", h("small", { class: "quiet" }, t("tree.chunks", { n: count(source.chunks) })))));
    cursor = found.next_cursor;
    more.hidden = !cursor;
  };
  return h("details", { ontoggle: (event) => {
    if (event.target.open && !list.children.length) load().catch((error) => put(list, h("li", {}, error.message)));
  } }, h("summary", {}, t("tree.sources")), list, more);
}
