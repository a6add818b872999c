// Elements are made here and nowhere from strings: nothing that comes from a document can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element. `props`: `on…` are listeners, `class`, `data-…` and other names attributes; false, null and
 *  undefined leave an attribute out. Children are nodes, texts, or lists of them; empty ones are left out. */
export function h(name, props = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled") made[key] = value;
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(key, value === true ? "" : value);
  }
  return fill(made, ...children);
}

/** Append children as `h` does. */
export function fill(parent, ...children) {
  for (const child of children.flat(9))
    if (child !== null && child !== undefined && child !== false && child !== "") parent.append(child);
  return parent;
}

/** Replace what is in `parent`. */
export function put(parent, ...children) {
  parent.replaceChildren();
  return fill(parent, ...children);
}

/** The element of this id, which the page's frame has. */
export const at = (id) => document.getElementById(id);

/** A name that nothing else has. Browsers have `randomUUID` only over https and on this machine itself. */
export const unique = () =>
  crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const PATHS = {
  home: "M3 10.5 12 3l9 7.5V21h-6v-6H9v6H3z",
  knowledge: "M12 3v5m0 0H5v5m7-5h7v5M3 13h4v4H3zm7 0h4v4h-4zm7 0h4v4h-4z",
  talk: "M4 5h16v11H10l-5 4v-4H4z",
  records: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h4",
  tests: "M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M8 15h8",
  settings: "M4 7h10m4 0h2M4 17h2m4 0h10M16 5v4M8 15v4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.5 1.5m11 11L19 19M5 19l1.5-1.5m11-11L19 5",
  send: "M4 12 20 4l-5 16-3-7z",
  stop: "M6 6h12v12H6z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  up: "M12 16V4m0 0L7 9m5-5 5 5M4 16v4h16v-4",
};

/** A drawing beside a word; it says nothing of its own to a screen reader. */
export function icon(name, size = 20) {
  const svg = document.createElementNS(SVG, "svg");
  const wanted = { viewBox: "0 0 24 24", width: size, height: size, fill: "none", stroke: "currentColor" };
  const more = { "stroke-width": 1.75, "stroke-linejoin": "round", "stroke-linecap": "round", "aria-hidden": "true" };
  for (const [key, value] of Object.entries({ ...wanted, ...more })) svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
