// A search over titles, summaries and texts of a version; what is typed stands in the address.

import { intoAddress } from "./address.js";
import { get, query } from "./api.js";
import { h, put } from "./dom.js";
import { failure, waiting as waitSign } from "./shell.js";
import { t } from "./text.js";
import { nodeLink } from "./node_card.js";

const PAUSE = 250;

/** `searching(isSearching)` tells whether results are shown instead of the tree. */
export function treeSearch(place, open, searching) {
  const results = h("div", { class: "stack" });
  const said = h("p", { class: "quiet", role: "status" });
  const field = h("input", { type: "search", id: "tree-search", maxlength: 200, autocomplete: "off", placeholder: t("tree.search_hint") });
  let asked = 0;
  let waiting = 0;

  async function show() {
    const words = field.value.trim();
    const turn = (asked += 1);
    intoAddress({ q: words });
    searching(Boolean(words));
    put(results);
    put(said);
    if (!words) return;
    const list = h("ul", { class: "sources" });
    const more = h("button", { hidden: true, onclick: () => load() }, t("more"));
    let cursor = null;
    const load = async () => {
      try {
        const found = await get(`${place.apiOf}/versions/${place.version}/search${query({ q: words, cursor })}`);
        if (turn !== asked) return;
        list.append(...found.data.map((node) => h("li", {}, nodeLink(place, node.path, open, one(node, words)))));
        cursor = found.next_cursor;
        more.hidden = !cursor;
        put(said, list.children.length ? t(cursor ? "tree.found_more" : "tree.found", { n: list.children.length }) : t("tree.found_none", { words }));
      } catch (error) {
        if (turn === asked) put(results, failure(error, show));
      }
    };
    put(results, waitSign());
    await load();
    if (turn === asked && results.querySelector(".wait")) put(results, list, more);
  }

  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (!event.isComposing) waiting = setTimeout(show, PAUSE);
  });
  field.addEventListener("compositionend", () => { waiting = setTimeout(show, PAUSE); });
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  if (field.value) show();
  return [h("div", { class: "field", role: "search" }, h("label", { for: "tree-search" }, t("tree.search")), field), said, results];
}

const one = (node, words) =>
  h("span", {}, h("strong", {}, marked(node.title || node.path, words)), " ", h("small", { class: "quiet" }, t(`tree.in_${node.found_in}`)),
    node.found_in !== "title" && [h("br"), h("small", {}, marked(node.excerpt, words))]);

/** The text with the words marked; their width and case make no difference, as in the search. */
export function marked(text, words) {
  const wanted = words.normalize("NFKC").split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length || text.normalize("NFKC").length !== text.length) return text;
  const plain = text.normalize("NFKC");
  let at = 0;
  const parts = [];
  for (const found of plain.matchAll(new RegExp(wanted.join("|"), "gi"))) {
    parts.push(text.slice(at, found.index), h("mark", {}, text.slice(found.index, found.index + found[0].length)));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
