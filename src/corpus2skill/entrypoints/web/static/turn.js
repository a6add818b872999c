// A question with its answer, as its record has them: the answer first, the way to it folded.

import { base } from "./api.js";
import { h } from "./dom.js";
import { feedback } from "./feedback.js";
import { outcomeBadge } from "./outcome.js";
import { t } from "./text.js";
import { answer, folded, sources } from "./trail.js";

/** Where the exact passage of a source of `run` opens. */
export const passage = (run) => (source) =>
  `${base}/c/${encodeURIComponent(run.corpus)}/versions/${run.version}/leaves/${source.doc_id}?run=${run.run_id}`;

/** `handOff`: address of a person, offered where an answer is missing. `opened(trail)` is told when the way is looked at. */
export function endedTurn(run, { hasFeedback = true, handOff = null, opened = null } = {}) {
  const address = passage(run);
  const isMissing = run.outcome !== "answered";
  const trail = folded(run.trail ?? [], run.outcome, run.total_ms);
  if (opened) trail.addEventListener("toggle", () => trail.open && opened(run.trail));
  return h(
    "article",
    { class: "turn", id: run.run_id },
    h("p", { class: "question" }, run.question),
    isMissing && h("div", { class: "row" }, outcomeBadge(run.outcome)),
    answer(run, address),
    run.is_truncated && h("p", { class: "notice lit" }, t("turn.truncated")),
    run.is_doubtful && h("p", { class: "notice lit" }, t("turn.doubtful")),
    run.confidence === "weak" && h("p", { class: "quiet" }, t("turn.weak")),
    sources(run, address),
    isMissing && handOff && h("p", {}, h("a", { class: "button", href: handOff }, t("turn.hand_off"))),
    trail,
    hasFeedback && feedback(run),
  );
}
