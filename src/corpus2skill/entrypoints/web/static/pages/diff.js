// What changed from one version to another: a sentence first, then documents, branches and leaves; texts on opening.

import { get, query } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { leafAddress, nodeAddress } from "../node_card.js";
import { failure, page, waiting } from "../shell.js";
import { count, t } from "../text.js";
import { textDiff } from "../text_diff.js";

const before = Number(at("page").dataset.before);
const after = Number(at("page").dataset.after);
const address = `${apiOf}/versions/${before}/diff/${after}`;
const of = (version) => ({ corpus: name, version, pathOf, apiOf });
const SHOWN = 50;

page(async () => {
  const [, diff] = await Promise.all([corpusTabs("versions"), get(`${address}?limit=5000`)]);
  at("title").textContent = t("diff.title", { before, after });
  put(at("title-actions"), h("a", { class: "button", href: `${pathOf}/versions/${after}/diff/${before}` }, t("diff.turn")),
    h("a", { class: "button", href: `${pathOf}/versions` }, t("diff.back")));
  return [
    h("p", { class: "notice", id: "diff-summary" }, diff.summary),
    diff.is_same ? h("div", { class: "empty" }, h("p", {}, t("diff.same_how"))) : [
      section("documents", [...sources(diff.sources_added, "added"), ...sources(diff.sources_removed, "gone"), ...sources(diff.sources_changed, "reworded"), ...diff.sources_renamed.map((pair) => entry("moved", `${pair.name_before} → ${pair.name}`))]),
      section("branches", [
        ...diff.groups_added.map((group) => branch("added", group, after)),
        ...diff.groups_removed.map((group) => branch("gone", group, before)),
        ...diff.groups_moved.map((group) => branch("moved", group, after)),
        ...diff.groups_renamed.map((group) => branch("reworded", group, after)),
      ]),
      section("leaves", [
        ...diff.leaves_added.map((leaf) => leafEntry("added", leaf, after)),
        ...diff.leaves_removed.map((leaf) => leafEntry("gone", leaf, before)),
        ...diff.leaves_moved.map((leaf) => leafEntry("moved", leaf, after)),
        ...diff.leaves_reworded.map((leaf) => leafEntry("reworded", leaf, after)),
      ]),
      section("wording", diff.nodes_reworded.map((path) => entry("reworded", h("code", {}, path), path))),
    ],
  ];
});

/** A list that shows its beginning; the rest is a click away. */
function section(word, entries) {
  if (!entries.length) return null;
  const list = h("ul", { class: "diff plain-list" }, entries.slice(0, SHOWN));
  let shown = SHOWN;
  const more = h("button", { onclick: () => {
    list.append(...entries.slice(shown, shown + 500));
    list.children[shown].querySelector("summary, a")?.focus();
    shown += 500;
    more.hidden = shown >= entries.length;
  } }, t("diff.more", { n: count(entries.length - SHOWN) }));
  return h("section", { class: "card", "aria-labelledby": `diff-${word}` },
    h("h2", { id: `diff-${word}` }, t(`diff.${word}`), " ", h("small", { class: "quiet" }, count(entries.length))), list, entries.length > SHOWN && more);
}

/** One change; where it has a text (`path`), that opens beneath it. */
function entry(kind, words, path = null, link = null) {
  const mark = h("span", { class: "badge" }, t(`diff.${kind}`));
  if (!path) return h("li", { class: kind }, mark, " ", words);
  const body = h("div");
  const opened = async ({ target }) => {
    if (!target.open || body.firstChild) return;
    put(body, waiting());
    try {
      const { lines } = await get(`${address}/nodes${query({ path })}`);
      put(body, lines.length ? textDiff(lines) : h("p", { class: "quiet" }, t("diff.no_text")), link);
    } catch (error) {
      put(body, failure(error));
    }
  };
  return h("li", { class: kind }, h("details", { ontoggle: opened }, h("summary", {}, mark, h("span", {}, words)), body));
}

const sources = (names, kind) => names.map((source) => entry(kind, source));

function branch(kind, group, version) {
  const title = group.title_before ? `${group.title_before} → ${group.title}` : group.title || group.path;
  const from = group.path_before && group.path_before !== group.path;
  return entry(kind, [title, " ", h("small", { class: "quiet" }, t("tree.leaves", { n: count(group.leaves) }), from && ` ${t("diff.from", { path: group.path_before })}`)],
    group.path, h("a", { href: nodeAddress(of(version), group.path) }, t("diff.in_tree", { version })));
}

function leafEntry(kind, leaf, version) {
  const from = leaf.path_before && leaf.path_before !== leaf.path;
  return entry(kind, [leaf.title || leaf.doc_id, " ", h("small", { class: "quiet" }, leaf.source, from && ` ${t("diff.from", { path: leaf.path_before })}`)],
    leaf.doc_id, h("a", { href: leafAddress(of(version), leaf.doc_id) }, t("diff.open_leaf", { version })));
}
