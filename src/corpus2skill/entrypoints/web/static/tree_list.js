// The tree of a version as an indented list: branches are fetched when they open, so 5,000 nodes cost what is seen.
// Operated as trees are (ARIA): arrows, Home, End, the beginning of a title, Enter.

import { get, query } from "./api.js";
import { h, put } from "./dom.js";
import { failure } from "./shell.js";
import { count, t } from "./text.js";

const isBranch = (node) => node.node_type === "skill_summary";
const groupOf = (item) => item.parentElement.querySelector(":scope > ul");

export class TreeList {
  /** `chosen(path)` is told what a person picks. `hasVisits`: show how many questions came through. */
  constructor({ corpus, version, label, chosen = () => {}, hasVisits = true }) {
    this.address = (path) => `/corpora/${encodeURIComponent(corpus)}/versions/${version}/nodes${query({ path })}`;
    Object.assign(this, { chosen, hasVisits, items: new Map(), opening: new Map(), typed: "", way: [] });
    this.list = h("ul", { class: "tree", role: "tree", "aria-label": label, onkeydown: (event) => this.onKey(event), onclick: (event) => this.onClick(event) });
  }

  /** Show the root and what it offers; returns the list's element. */
  async build() {
    this.root = await get(this.address(""));
    this.most = Math.max(1, ...this.root.branches.map(({ visits }) => visits));
    put(this.list, this.lines([this.root], 1));
    const item = this.items.get(this.root.path);
    item.tabIndex = 0;
    this.offer(item, this.root.branches);
    return this.list;
  }

  lines(nodes, level) {
    return nodes.map((node, place) => h("li", { role: "none" }, this.item(node, { "aria-level": level, "aria-posinset": place + 1, "aria-setsize": nodes.length })));
  }

  /** One line. The group of its children stands beside it and not within, so that its name is its own words. */
  item(node, place) {
    const branch = isBranch(node);
    const item = h("div", { class: "node", role: "treeitem", tabindex: -1, "aria-selected": "false", "aria-expanded": branch && "false", "data-path": node.path, ...place },
      h("span", { class: branch ? "sign" : "sign leaf", "aria-hidden": "true" }, branch ? "▸" : "▪"),
      h("span", { class: "name one-line", title: node.title }, node.title || node.path),
      branch && h("span", { class: "count" }, t("tree.leaves", { n: count(node.leaves) })),
      this.hasVisits && node.visits > 0 && this.heat(node.visits));
    this.items.set(node.path, item);
    return item;
  }

  /** How many questions came through, as a number and as a bar against the busiest branch. */
  heat(visits) {
    const bar = h("i", {});
    bar.style.width = `${Math.max(6, Math.min(100, (100 * visits) / this.most))}%`;
    const words = t("tree.visits", { n: count(visits) });
    return h("span", { class: "visits", title: words }, h("span", { class: "heat", "aria-hidden": "true" }, bar), h("span", { "aria-hidden": "true" }, count(visits)), h("span", { class: "unseen" }, words));
  }

  offer(item, branches) {
    item.setAttribute("aria-expanded", "true");
    groupOf(item)?.remove();
    item.after(h("ul", { role: "group" }, this.lines(branches, Number(item.ariaLevel) + 1)));
  }

  /** Open a branch. Twice at once is one fetch. */
  open(item) {
    if (!item.hasAttribute("aria-expanded") || item.getAttribute("aria-expanded") === "true") return Promise.resolve();
    const inner = groupOf(item);
    if (inner) {
      inner.hidden = false;
      item.setAttribute("aria-expanded", "true");
      return Promise.resolve();
    }
    const { path } = item.dataset;
    if (!this.opening.has(path)) this.opening.set(path, this.fetch(item).finally(() => this.opening.delete(path)));
    return this.opening.get(path);
  }

  async fetch(item) {
    item.parentElement.querySelector(":scope > .notice")?.remove();
    item.setAttribute("aria-busy", "true");
    try {
      this.offer(item, (await get(this.address(item.dataset.path))).branches);
    } catch (error) {
      item.after(failure(error));
    } finally {
      item.removeAttribute("aria-busy");
    }
  }

  close(item) {
    const inner = groupOf(item);
    if (!inner) return;
    inner.hidden = true;
    item.setAttribute("aria-expanded", "false");
    if (inner.contains(this.current)) this.focus(item);
  }

  /** Open what lies above `path`; returns its item, if there is one. */
  async reach(path) {
    const names = path.split("/").slice(0, path.endsWith("SKILL.md") ? -2 : -1);
    for (let depth = 0; depth <= names.length; depth += 1) {
      const above = this.items.get([...names.slice(0, depth), "SKILL.md"].join("/"));
      if (above && above.dataset.path !== path) await this.open(above);
    }
    return this.items.get(path);
  }

  /** Open the way to `path` and mark it as chosen. */
  async reveal(path) {
    const item = await this.reach(path);
    for (const other of this.list.querySelectorAll("[aria-selected=true]")) other.setAttribute("aria-selected", "false");
    if (!item) return;
    item.setAttribute("aria-selected", "true");
    this.stand(item);
    if (isOutOfSight(item)) item.scrollIntoView({ block: "nearest" });
  }

  /** Mark the way of a run; branches that were entered open, one after another. */
  async walk(paths) {
    this.way = paths;
    for (const path of paths) {
      const item = await this.reach(path);
      if (!item) continue;
      if (!item.parentElement.classList.contains("walked")) item.append(h("span", { class: "unseen walk" }, t("tree.walked")));
      item.parentElement.classList.add("walked");
      await this.open(item);
    }
    if (paths.length && this.way === paths) this.items.get(paths.at(-1))?.scrollIntoView({ block: "nearest" });
  }

  forget() {
    this.way = [];
    for (const item of this.list.querySelectorAll(".walked")) {
      item.classList.remove("walked");
      item.querySelector(":scope > .node > .walk").remove();
    }
  }

  get current() {
    return this.list.querySelector("[role=treeitem][tabindex='0']");
  }

  /** The one item that the tab key comes to. */
  stand(item) {
    const before = this.current;
    if (before) before.tabIndex = -1;
    item.tabIndex = 0;
  }

  focus(item) {
    this.stand(item);
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }

  get shown() {
    return [...this.list.querySelectorAll("[role=treeitem]")].filter((item) => !item.closest("[hidden]"));
  }

  onClick(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item) return;
    const isOpen = item.getAttribute("aria-expanded") === "true";
    if (event.target.closest(".sign") && item.hasAttribute("aria-expanded")) {
      this.focus(item);
      isOpen ? this.close(item) : this.open(item);
      return;
    }
    this.focus(item);
    this.open(item);
    this.chosen(item.dataset.path);
  }

  onKey(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = MOVES[event.key];
    if (move) move(this, item);
    else if (event.key.length === 1 && event.key !== " ") this.type(event.key, item);
    else return;
    event.preventDefault();
  }

  /** To the next title that begins with what is being typed. */
  type(letter, item) {
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => { this.typed = ""; }, 700);
    this.typed += letter.toLocaleLowerCase();
    const { shown } = this;
    const from = shown.indexOf(item) + (this.typed.length === 1 ? 1 : 0);
    const begins = (other) => other.querySelector(".name").textContent.toLocaleLowerCase().startsWith(this.typed);
    const found = [...shown.slice(from), ...shown.slice(0, from)].find(begins);
    if (found) this.focus(found);
  }
}

const by = (steps) => (tree, item) => {
  const { shown } = tree;
  tree.focus(shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(item) + steps))]);
};
const choose = (tree, item) => {
  tree.open(item);
  tree.chosen(item.dataset.path);
};
const MOVES = {
  ArrowDown: by(1),
  ArrowUp: by(-1),
  Home: by(-Infinity),
  End: by(Infinity),
  Enter: choose,
  " ": choose,
  ArrowRight: (tree, item) => {
    if (item.getAttribute("aria-expanded") === "true") tree.focus(groupOf(item)?.querySelector("[role=treeitem]") ?? item);
    else tree.open(item);
  },
  ArrowLeft: (tree, item) => {
    if (item.getAttribute("aria-expanded") === "true") tree.close(item);
    else tree.focus(item.closest("ul").parentElement.querySelector(":scope > [role=treeitem]") ?? item);
  },
};

function isOutOfSight(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return top < 60 || bottom > innerHeight;
}
