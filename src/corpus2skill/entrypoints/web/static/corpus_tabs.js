// What the pages of one corpus share: the way back to all corpora, the corpus's title, and links to its other pages.

import { base, get } from "./api.js";
import { at, h } from "./dom.js";
import { t } from "./text.js";

const TABS = ["documents", "compile", "jobs", "tree", "versions", "settings"];

/** The name of the corpus in the page's address, and the path of its pages and of its API. */
export const name = at("page").dataset.corpus;
export const pathOf = `${base}/c/${encodeURIComponent(name)}`;
export const apiOf = `/corpora/${encodeURIComponent(name)}`;

/** Show crumbs above the title and tabs below it (at once), then fetch the corpus; returns its body.
 *  Called from a page's build, whose failure says what is wrong: `const corpus = await corpusTabs("tree")`. */
export async function corpusTabs(current) {
  show(current, name);
  const corpus = await get(apiOf);
  show(current, corpus.title || name);
  document.title = `${at("title").textContent} - ${corpus.title || name} - Corpus2Skill`;
  return corpus;
}

function show(current, title) {
  at("corpus-crumbs")?.remove();
  at("corpus-tabs")?.remove();
  const crumbs = h("nav", { id: "corpus-crumbs", "aria-label": t("corpus_tabs.way") },
    h("ol", { class: "crumbs" }, h("li", {}, h("a", { href: `${base}/knowledge` }, t("nav.knowledge"))), h("li", {}, title)));
  const tabs = h("nav", { id: "corpus-tabs", class: "tabs", "aria-label": t("corpus_tabs.label") },
    TABS.map((tab) => h("a", { href: `${pathOf}/${tab}`, "aria-current": tab === current && "page" }, t(`corpus_tabs.${tab}`))));
  const heading = at("title").parentElement;
  heading.before(crumbs);
  heading.after(tabs);
  tabs.scrollLeft = (tabs.querySelector("[aria-current]")?.offsetLeft ?? 0) - tabs.offsetLeft - 48; // in sight on a phone
}
