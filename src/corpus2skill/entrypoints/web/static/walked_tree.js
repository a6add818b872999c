// The tree beside a conversation: opened along the way that is walked, the walked nodes marked.

import { get, query } from "./api.js";
import { h, put } from "./dom.js";
import { t } from "./text.js";

export class WalkedTree {
  constructor(corpus, version) {
    Object.assign(this, { corpus, version, nodes: new Map(), walked: [] });
    this.list = h("ul", { class: "tree" });
  }

  async build() {
    await this.open("SKILL.md", this.list);
    return this.list;
  }

  /** Show the children of a summary node in `place`. */
  async open(path, place) {
    const node = await get(`/corpora/${encodeURIComponent(this.corpus)}/versions/${this.version}/nodes${query({ path })}`);
    const folder = path.slice(0, -"SKILL.md".length);
    put(place, node.children.map((child) => {
      const name = typeof child === "string" ? child : child.name;
      const below = child.node_type === "document" || name.startsWith("doc_") ? `${folder}${name}.md` : `${folder}${name}/SKILL.md`;
      const item = h("li", {}, h("div", { class: "node" }, h("span", { class: "name one-line", title: child.title || name }, child.title || name)));
      this.nodes.set(below, item);
      return item;
    }));
  }

  /** Mark the way; branches that were entered are opened, one after another. */
  async walk(paths) {
    this.walked = paths;
    for (const path of paths) {
      const item = this.nodes.get(path);
      if (!item) continue;
      item.classList.add("walked");
      item.querySelector(".name").setAttribute("aria-label", t("tree.walked", { title: item.querySelector(".name").title }));
      if (path.endsWith("SKILL.md") && !item.querySelector("ul")) {
        const inner = h("ul");
        item.append(inner);
        await this.open(path, inner).catch(() => inner.remove());
      }
    }
    if (paths.length && this.walked === paths) this.nodes.get(paths.at(-1))?.scrollIntoView({ block: "nearest" });
  }

  forget() {
    for (const item of this.nodes.values()) item.classList.remove("walked");
  }
}
