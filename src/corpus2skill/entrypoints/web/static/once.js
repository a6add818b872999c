// A secret or a link that the server shows once: it stays until the reader says that they have it.

import { at, h, put } from "./dom.js";
import { note } from "./shell.js";
import { t } from "./text.js";

/** Put `text` into `place` with a button that copies it; the focus goes there. `words`: what it is and what to do. */
export function showOnce(place, { title, words, text }) {
  const field = h("input", { value: text, readonly: true, class: "mono", "aria-label": title, onfocus: () => field.select() });
  const copy = h("button", { class: "primary", onclick: () => copied(text, field) }, t("copy"));
  const shown = h(
    "section",
    { class: "notice lit once", tabindex: "-1", "aria-label": title },
    h("strong", {}, title),
    h("p", {}, words),
    h("div", { class: "row" }, h("div", { class: "grow" }, field), copy, h("button", { onclick: () => away(place) }, t("once.done"))),
  );
  put(place, shown);
  shown.focus();
}

/** Copy `text`; where the browser does not let us, select it so that the reader can. */
export async function copied(text, field = null) {
  try {
    await navigator.clipboard.writeText(text);
    note(t("copied"));
  } catch {
    field?.select();
    note(t("copy.by_hand"));
  }
}

function away(place) {
  put(place);
  at("main").focus();
}
