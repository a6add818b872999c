// Fields with their names and hints, and what one is allowed to do.

import { at, h } from "./dom.js";
import { t } from "./text.js";

const scopes = (at("page").dataset.scopes || "").split(" ");

/** True where the reader has this permission. */
export const may = (scope) => scopes.includes(scope);

/** What a page says to somebody who lacks the permission, and who has it. */
export const notAllowed = (scope) =>
  h("div", { class: "empty" }, h("h2", {}, t("not_allowed")), h("p", {}, t("not_allowed.how", { who: t(`who.${scope}`) })));

let made = 0;

/** A labelled input. `hint` stands below it; `choices` ([value, words] pairs) make it a list to choose from. */
export function field({ label, hint, choices, ...props }) {
  const id = `field-${++made}`;
  const about = hint ? `${id}-hint` : null;
  const shared = { id, "aria-describedby": about, ...props };
  const input = choices
    ? h("select", shared, choices.map(([value, words]) => h("option", { value, selected: value === props.value }, words)))
    : h("input", { type: "text", autocomplete: "off", ...shared });
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("small", { id: about, class: "quiet" }, hint));
}

/** A box to tick, with what it means below its name. */
export function tick({ label, hint, type = "checkbox", ...props }) {
  const id = `field-${++made}`;
  return h(
    "div",
    {},
    h("label", { class: "check", for: id }, h("input", { id, type, "aria-describedby": hint ? `${id}-hint` : null, ...props }), label),
    hint && h("small", { id: `${id}-hint`, class: "under-check quiet" }, hint),
  );
}

/** What was typed into `form`, by name, without blanks around. */
export const typed = (form) =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]));
