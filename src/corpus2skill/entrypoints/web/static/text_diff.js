// A unified diff as people read it: what stays is folded by the server, what changes within a line is marked.

import { h } from "./dom.js";
import { t } from "./text.js";

/** `lines` as the API gives them: two lines of names, then hunks. */
export function textDiff(lines) {
  const made = [];
  let gone = [];
  let added = [];
  const flush = () => {
    const isPair = gone.length === added.length;
    made.push(...gone.map((line, n) => one("del", "diff.was", line, isPair ? added[n] : null)));
    made.push(...added.map((line, n) => one("ins", "diff.is", line, isPair ? gone[n] : null)));
    gone = [];
    added = [];
  };
  for (const line of lines.slice(2)) {
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === "-" && added.length) flush();
    if (sign === "-") gone.push(text);
    else if (sign === "+") added.push(text);
    else {
      flush();
      made.push(line.startsWith("@@") ? made.length > 0 && h("p", { class: "quiet fold" }, t("diff.folded")) : h("div", { class: "same" }, text || " "));
    }
  }
  flush();
  return h("div", { class: "diff-text" }, made);
}

function one(tag, word, text, other) {
  return h(tag, {}, h("span", { class: "sign", "aria-hidden": "true" }, tag === "ins" ? "+" : "−"), h("span", { class: "unseen" }, t(word)), h("span", {}, other === null ? text : changed(text, other)));
}

/** What a line does not share with its other at its ends stands out. */
function changed(text, other) {
  const most = Math.min(text.length, other.length);
  let first = 0;
  while (first < most && text[first] === other[first]) first += 1;
  let last = 0;
  while (last < most - first && text.at(-1 - last) === other.at(-1 - last)) last += 1;
  const end = text.length - last;
  return first || last ? [text.slice(0, first), h("strong", {}, text.slice(first, end)), text.slice(end)] : text;
}
