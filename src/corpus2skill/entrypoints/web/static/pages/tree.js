// The tree of a version beside the node that is looked at. The address names both, so that a link leads back here.

import { base, get, pages, query } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { nodeCard } from "../node_card.js";
import { failure, page, waiting } from "../shell.js";
import { t, when } from "../text.js";
import { TreeList } from "../tree_list.js";
import { treeSearch } from "../tree_search.js";

const asked = () => new URLSearchParams(location.search);

page(async () => {
  const corpus = await corpusTabs("tree");
  const version = Number(asked().get("version")) || corpus.active_version;
  if (!version) return nothing(corpus);
  const explorer = new Explorer(corpus, version);
  return explorer.build();
});

/** No tree that answers: the next step, as far as this person may do it. */
function nothing(corpus) {
  const link = (path, word, isFirst) => h("a", { class: isFirst ? "button primary" : "button", href: `${pathOf}/${path}` }, t(word));
  const has = corpus.versions > 0;
  return h("div", { class: "empty" }, h("h2", {}, t(has ? "tree.none_active" : "tree.none")), h("p", {}, t(has ? "tree.none_active_how" : "tree.none_how")),
    has ? link("versions", "corpus_tabs.versions", true) : h("div", { class: "row" }, link("documents", "tree.to_documents", true), link("compile", "tree.to_compile")));
}

class Explorer {
  constructor(corpus, version) {
    this.corpus = corpus;
    this.place = { corpus: name, version, pathOf, apiOf };
    this.card = h("div", { "aria-live": "off" });
    this.open = (path) => this.go(path);
    this.tree = new TreeList({ corpus: name, version, label: t("tree.label", { version }), chosen: this.open });
  }

  async build() {
    const list = await this.tree.build();
    put(at("title-actions"), this.chooser());
    const pane = h("div", {}, list);
    addEventListener("popstate", () => this.show(asked().get("node") || "SKILL.md"));
    await this.show(asked().get("node") || "SKILL.md");
    return [
      this.place.version !== this.corpus.active_version && this.other(),
      this.tree.root.leaves < 2 && this.small(),
      h("div", { class: "two" },
        h("section", { class: "card tree-pane", "aria-label": t("title.tree") },
          treeSearch(this.place, this.open, (isSearching) => { pane.hidden = isSearching; }), pane),
        this.card),
    ];
  }

  /** Versions to look at; the list is fetched after the tree stands. */
  chooser() {
    const { version } = this.place;
    const word = (number) => t(number === this.corpus.active_version ? "tree.version_active" : "tree.version", { version: number });
    const option = (number, more = "") => h("option", { value: number, selected: number === version }, word(number) + more);
    const select = h("select", { "aria-label": t("tree.choose"), onchange: () => location.assign(query({ version: select.value })) }, option(version));
    this.versions(select, option).catch(() => {});
    return select;
  }

  async versions(select, option) {
    const found = [];
    for await (const some of pages(`${apiOf}/versions?limit=200`)) found.push(...some);
    put(select, found.map(({ version, created_at }) => option(version, created_at ? ` - ${when(created_at)}` : "")));
  }

  other() {
    const active = this.corpus.active_version;
    return h("div", { class: "notice" }, h("p", {}, t(active ? "tree.not_active" : "tree.no_active", { version: this.place.version, active })),
      active && h("p", {}, h("a", { href: query({ version: active }) }, t("tree.to_active"))));
  }

  small() {
    return h("div", { class: "notice" }, h("p", {}, t(this.tree.root.leaves ? "tree.one_leaf" : "tree.no_leaf")),
      h("p", {}, h("a", { href: `${pathOf}/documents` }, t("tree.to_documents"))));
  }

  /** A person chose a node: it enters the history. */
  async go(path) {
    const address = new URL(location);
    address.searchParams.set("version", this.place.version);
    address.searchParams.set("node", path);
    if (address.href !== location.href) history.pushState(null, "", address);
    await this.show(path);
    if (matchMedia("(max-width: 60rem)").matches) this.card.scrollIntoView({ block: "start" });
    if (!this.tree.list.contains(document.activeElement)) at("node-title")?.focus({ preventScroll: true });
  }

  async show(path) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    if (!this.card.firstChild) put(this.card, waiting());
    try {
      const node = path === "SKILL.md" ? this.tree.root : await get(this.tree.address(path));
      if (turn !== this.turn) return;
      put(this.card, nodeCard(node, this.place, this.open));
      await this.tree.reveal(node.path);
    } catch (error) {
      if (turn === this.turn) put(this.card, failure(error), h("p", {}, h("a", { href: `${base}${location.pathname.slice(base.length)}${query({ version: this.place.version })}` }, t("tree.to_root"))));
    }
  }
}
