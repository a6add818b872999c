// A job in words: the same on the home page, in the list and on its own page.

import { base } from "./api.js";
import { h } from "./dom.js";
import { count, money, t } from "./text.js";

const LOOKS = {
  running: "busy", waiting_for_key: "lit", paused_budget: "lit", stalled: "lit", failed: "bad", succeeded: "good",
};
export const ENDED = ["failed", "cancelled", "succeeded"];
/** States in which nothing goes on until a person has done something. */
export const NEEDS_PERSON = ["waiting_for_key", "paused_budget", "stalled", "failed"];

export const jobPath = (job) => `${base}/jobs/${encodeURIComponent(job.job_id)}`;
export const isEnded = (job) => ENDED.includes(job.state);

export function jobBadge(job) {
  const state = job.is_cancelling && job.state === "running" ? "cancelling" : job.state;
  return h("span", { class: `badge ${LOOKS[job.state] ?? ""}` }, t(`job.state.${state}`));
}

/** The stage that is being done, or the last one. */
export const stageNow = (job) => job.stages.find((stage) => !stage.is_done) ?? job.stages.at(-1);

/** "要約 12/40"; nothing before the first stage has begun. */
export function howFar(job) {
  const stage = stageNow(job);
  if (job.state === "succeeded") return t("job.all_done");
  if (!stage || (!stage.total && !stage.done && !stage.tries)) return "—";
  return `${t(`stage.${stage.stage}`)} ${count(stage.done)}/${count(stage.total)}`;
}

/** The models of a job: as chosen, else as estimated. Where neither names one, it has those of the settings. */
export function modelsOf({ options, estimate }) {
  const chosen = [options.summary_model ?? options.model, options.grouping_model ?? options.model];
  const estimated = (estimate?.lines ?? []).map(({ model }) => model);
  const found = [...new Set((chosen.every(Boolean) ? chosen : [...chosen, ...estimated]).filter(Boolean))];
  const isOffline = !found.length && estimate?.to_summarize > 0; // it would have been estimated
  return found.map((model) => (model === "offline" ? t("compile.offline") : model)).join(", ") || t(isOffline ? "compile.offline" : "compile.by_default");
}

/** What was spent beside what was said before: "$0.12 / $0.10 – $0.30". */
export function spentOf(job) {
  const shown = job.estimate?.dollars;
  const isFree = job.spent.dollars === 0 && !job.spent.calls && !job.estimate?.lines.length;
  if (isFree) return t("job.free");
  return shown ? `${money(job.spent.dollars)} / ${range(shown, money)}` : money(job.spent.dollars);
}

/** "3 – 8", or one number where both ends are the same. */
export function range({ low, high }, say = (number) => count(Math.round(number))) {
  const ends = [say(low), say(high)];
  return ends[0] === ends[1] ? ends[0] : ends.join(" – ");
}
