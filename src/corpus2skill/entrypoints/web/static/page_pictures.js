// The pages of a PDF that a passage stands on, as pictures with the passage marked.

import { base, query } from "./api.js";
import { apiOf } from "./corpus_tabs.js";
import { h, put } from "./dom.js";
import { t } from "./text.js";

const MOST = 10;

/** Null where the leaf is of no PDF, or its file is not here as it was compiled. */
export function pagePictures(leaf) {
  const { chunk, original } = leaf;
  if (chunk.page_kind !== "page" || !chunk.pages || !original?.is_same || !/\.pdf$/i.test(original.name)) return null;
  const place = h("div");
  const labels = between(...chunk.pages);
  const show = (label) => {
    const address = `${base}/v1${apiOf}/versions/${leaf.version}/leaves/${encodeURIComponent(leaf.doc_id)}/page.png${query({ page: label })}`;
    const image = h("img", { src: address, alt: t("leaf.page_of", { page: label, name: original.name }), onerror: () => put(place, h("p", { class: "notice" }, t("leaf.no_picture"))) });
    put(place, h("a", { href: address, target: "_blank", rel: "noopener" }, image));
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip.value === label));
  };
  const chips = h("div", { class: "chips" }, labels.length > 1 && labels.map((label) =>
    h("button", { class: "chip", value: label, onclick: () => show(label) }, t("leaf.page", { page: label }))));
  show(labels[0]);
  return h("section", { class: "stack", "aria-labelledby": "pages" }, h("h2", { id: "pages" }, t("leaf.pages")), chips, h("div", { class: "page-picture" }, place));
}

/** All labels from the first to the last, where they are numbers. */
function between(first, last) {
  const [from, to] = [Number(first), Number(last)];
  if (!Number.isInteger(from) || !Number.isInteger(to)) return [...new Set([first, last])];
  return Array.from({ length: Math.min(MOST, to - from + 1) }, (_, n) => String(from + n));
}
