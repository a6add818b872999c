// How a run ended and how its answer was judged, as badges: a mark and a word.

import { h } from "./dom.js";
import { t } from "./text.js";

export const OUTCOMES = ["answered", "not_found", "fetch_limit", "timed_out", "cancelled", "interrupted", "stopped",
  "refused", "budget", "tool_misuse", "tree_unavailable", "model_failed"];
const KINDS = { answered: "good", not_found: "lit", fetch_limit: "lit", cancelled: "", interrupted: "", stopped: "" };

export const outcomeBadge = (outcome) => h("span", { class: `badge ${KINDS[outcome] ?? "bad"}` }, t(`outcome.${outcome}`));

/** What was said of an answer, null where nothing was. */
export const ratingBadge = (feedback) =>
  feedback && h("span", { class: `badge ${feedback.rating === "helpful" ? "good" : "bad"}` }, t(`feedback.${feedback.rating}`));
