// A document in words: what was found in it, and whether the live version has it. These are two things.

import { h } from "./dom.js";
import { count, t } from "./text.js";

const LOOKS = { received: "busy", accepted: "good", refused: "bad", duplicate: "", removed: "", purging: "busy", purged: "" };

export const stateBadge = ({ state, verdict }) =>
  h("span", { class: `badge ${LOOKS[state]}` }, t(`document.state.${state}`), state === "refused" && verdict && t("document.why", { verdict: t(`verdict.${verdict}`) }));

export const sizeOf = (document) =>
  [document.pages && t("document.pages", { n: count(document.pages) }), document.characters > 0 && t("document.characters", { n: count(document.characters) })].filter(Boolean).join("・") || "—";

/** Only what the next version will have is "not yet" in one. */
export function liveOf({ state, live_version: version, is_live_same: isSame }) {
  if (!version) return h("span", { class: "quiet" }, ["received", "accepted"].includes(state) ? t("document.not_live") : "—");
  return h("span", { class: `badge ${isSame ? "good" : "lit"}` }, t(isSame ? "document.live" : "document.live_before", { n: version }));
}
