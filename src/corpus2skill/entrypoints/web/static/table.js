// A table of rows; on a phone each row is a card with its columns' names.

import { h } from "./dom.js";

/** `columns`: names, or [name, class] pairs; an empty name is for buttons. `rows`: lists of cells, each nodes or text. */
export function table(caption, columns, rows) {
  const named = columns.map((column) => (Array.isArray(column) ? column : [column, null]));
  return h(
    "div",
    { class: "table cards-on-phone" },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, named.map(([name, kind]) => (name ? h("th", { scope: "col", class: kind }, name) : h("td"))))),
      h("tbody", {}, rows.map((cells) => row(named, cells))),
    ),
  );
}

/** One more row of a table with these columns. */
export const tableRow = (columns, cells) => row(columns.map((column) => (Array.isArray(column) ? column : [column, null])), cells);

const row = (named, cells) =>
  h("tr", {}, cells.map((cell, i) => {
    const [name, kind] = named[i];
    // The first cell names its row, to screen readers too.
    return i ? h("td", { class: name ? kind : "acts", "data-name": name || null }, cell) : h("th", { scope: "row", class: "lead" }, cell);
  }));
