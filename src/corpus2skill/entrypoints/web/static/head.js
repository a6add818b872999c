// What stands in every page's head: the menu that closes by itself, and which version is live.

import { base, get } from "./api.js";
import { at, h, put } from "./dom.js";
import { t } from "./text.js";

const menu = at("menu");
const EVERY = 60_000;

menu.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
menu.addEventListener("focusout", (event) => {
  if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
});
addEventListener("pointerdown", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});
at("keys").addEventListener("click", () => { menu.open = false; });

/** The corpus of this page; the only one where a page is of none; else how many are live. */
async function live() {
  const name = at("page").dataset.corpus ?? new URLSearchParams(location.search).get("corpus");
  const { data: corpora } = await get("/corpora?limit=200");
  const shown = corpora.length === 1 ? corpora[0] : corpora.find(({ corpus }) => corpus === name);
  if (shown) return one(shown);
  return corpora.length > 1 && many(corpora);
}

function one({ corpus: name, title, active_version: n }) {
  const values = { corpus: title || name, n };
  return chip(`/c/${encodeURIComponent(name)}/versions`, Boolean(n), t(n ? "live.version" : "live.none", values), t(n ? "live.of" : "live.none_of", values));
}

function many(corpora) {
  const values = { n: corpora.filter((corpus) => corpus.active_version).length, all: corpora.length };
  return chip("/knowledge", values.n > 0, t("live.many", values), t("live.many_of", values));
}

const chip = (path, isLive, words, whole) =>
  h("a", { class: `badge${isLive ? " good" : ""}`, href: base + path, title: whole }, words, h("span", { class: "unseen" }, ` (${whole})`));

/** Nobody is kept from anything where this fails: it is tried again. */
async function look() {
  if (document.hidden) return;
  try {
    const found = await live();
    if (found && found.textContent !== at("live").textContent) put(at("live"), found);
    else if (!found) put(at("live"));
  } catch {
    // the page itself says what is wrong
  }
}

addEventListener("visibilitychange", look);
addEventListener("corpus2skill:live", look);
setInterval(look, EVERY);
look();
