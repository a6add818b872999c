// What a compile would come to, in words and numbers, before anything is paid for.

import { pathOf } from "./corpus_tabs.js";
import { h } from "./dom.js";
import { range } from "./job_words.js";
import { count, money, t } from "./text.js";

export function estimateCard(estimate) {
  const isFree = !estimate.lines.length;
  const sum = (what) => estimate.lines.reduce((all, line) => ({ low: all.low + line[what].low, high: all.high + line[what].high }), { low: 0, high: 0 });
  const rows = [
    [t("compile.chunks"), t("compile.chunks_n", { n: count(estimate.chunks), reused: count(estimate.chunks - estimate.to_summarize) })],
    estimate.refused > 0 && [t("compile.refused"), h("a", { href: `${pathOf}/documents?state=refused` }, t("compile.refused_n", { n: count(estimate.refused) }))],
    [t("compile.calls"), isFree ? t("compile.no_calls") : range(sum("calls"))],
    !isFree && [t("compile.tokens"), t("compile.tokens_n", { input: range(sum("input_tokens")), output: range(sum("output_tokens")) })],
    [t("compile.money"), h("strong", { class: "fact" }, isFree ? t("job.free") : estimate.dollars ? range(estimate.dollars, money) : t("money.unknown"))],
    estimate.minutes && [t("compile.minutes"), minutes(estimate.minutes)],
    !isFree && [t("compile.models"), [...new Set(estimate.lines.map((line) => line.model))].join(", ")],
  ];
  return h("section", { class: "card estimate", "aria-labelledby": "estimate" }, h("h2", { id: "estimate" }, t("compile.estimate")),
    h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

const minutes = ({ low, high }) => (high < 1 ? t("compile.under_a_minute") : t("compile.minutes_n", { n: range({ low: Math.max(1, Math.floor(low)), high: Math.ceil(high) }) }));

/** The cap that is proposed: near a cap each call is held to the most it could cost, so twice the high end. */
export const proposedCap = (estimate, setting) => {
  if (setting) return setting;
  const high = estimate.dollars?.high;
  return high === undefined ? "" : Math.max(0.01, Math.ceil(high * 200) / 100);
};
