// A list that shows its next page at a click.

import { get } from "./api.js";
import { h, put } from "./dom.js";
import { failure } from "./shell.js";
import { t } from "./text.js";

/** Fetch the first page of `path` and show it; `draw(items)` makes an element of all that came so far. Returns a place
 *  with a `reload()` for when something changed. What fails is said below what is there. */
export function paged(path, draw) {
  const place = h("div", { class: "stack" });
  let seen = [];
  let turn = 0;
  const fetchPage = async (cursor) => {
    const mine = (turn += 1);
    place.setAttribute("aria-busy", "true");
    try {
      const page = await get(cursor ? `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}` : path);
      if (mine !== turn) return;
      const before = cursor ? seen.length : 0;
      seen = cursor ? [...seen, ...page.data] : page.data;
      const next = page.next_cursor && h("div", {}, h("button", { onclick: () => fetchPage(page.next_cursor) }, t("more")));
      put(place, draw(seen, page), next);
      // The button is gone: the keyboard goes on at the first of what is new.
      if (before) place.querySelectorAll("tbody tr, [data-entry]")[before]?.querySelector("a, button")?.focus();
    } catch (error) {
      if (mine !== turn) return;
      place.querySelector(":scope > .notice")?.remove();
      place.append(failure(error, () => fetchPage(cursor)));
    } finally {
      if (mine === turn) place.removeAttribute("aria-busy");
    }
  };
  place.reload = () => fetchPage(null);
  return fetchPage(null).then(() => place);
}
