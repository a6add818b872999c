// Filters that live in the page's address: a link to the page is a link to what is seen.

import { h } from "./dom.js";
import { field } from "./form.js";
import { t } from "./text.js";

/** What the address says of each of `names`, empty where it says nothing. */
export function inAddress(names) {
  const asked = new URLSearchParams(location.search);
  return Object.fromEntries(names.map((name) => [name, asked.get(name) ?? ""]));
}

/** Write `values` into the address, the empty ones left out; what else stands in it stays. */
export function intoAddress(values) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === null || value === undefined) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.replaceState(null, "", address);
}

/** A form of filters. `fields`: what `field()` takes, each with its `name`; `changed(values)` is told each change,
 *  after the address has it. Returns the form; `form.values()` are those that hold. */
export function filters(fields, changed) {
  const names = fields.map(({ name }) => name);
  const now = inAddress(names);
  const form = h("form", { class: "filters", role: "search", "aria-label": t("filters"), onsubmit: (event) => event.preventDefault() },
    fields.map((one) => field({ ...one, value: now[one.name] })),
    h("button", { type: "button", class: "plain", onclick: () => clear() }, t("filters.clear")));
  form.values = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]));
  const tell = () => {
    intoAddress(form.values());
    changed(form.values());
  };
  const clear = () => {
    for (const name of names) form.elements[name].value = "";
    tell();
  };
  form.addEventListener("change", tell);
  return form;
}
