// Six lanes, one for each stage of a compile; they move as events tell.

import { h } from "./dom.js";
import { count, span, t } from "./text.js";

/** Returns the list and `show(stages)`. */
export function lanes() {
  const made = new Map();
  const list = h("ol", { class: "lanes" });
  const show = (stages) => {
    for (const stage of stages) {
      if (!made.has(stage.stage)) made.set(stage.stage, lane(stage.stage, list));
      update(made.get(stage.stage), stage);
    }
  };
  return { list, show };
}

function lane(name, list) {
  const parts = { sign: h("span", { class: "sign", "aria-hidden": "true" }), bar: h("progress", { max: 1, value: 0, "aria-label": t(`stage.${name}`) }), said: h("span", { class: "num" }) };
  parts.item = h("li", { "data-stage": name }, h("strong", {}, parts.sign, t(`stage.${name}`)), parts.bar, parts.said);
  list.append(parts.item);
  return parts;
}

function update({ item, sign, bar, said }, { done, total, tries, ms, is_done: isDone }) {
  const isBegun = isDone || total > 0 || tries > 0;
  item.dataset.state = isDone ? "done" : isBegun ? "now" : "wait";
  sign.textContent = isDone ? "✓" : isBegun ? "◐" : "○";
  bar.max = Math.max(total, 1);
  bar.value = isDone ? bar.max : done;
  // A stage that redid a step has more tries than steps: only then they are worth a word.
  const again = tries > Math.max(total, 1) ? t("lane.tries", { n: count(tries) }) : "";
  said.textContent = isBegun ? [`${count(done)}/${count(total)}`, again, isDone || ms ? span(ms) : ""].filter(Boolean).join("・") : t("lane.wait");
}
