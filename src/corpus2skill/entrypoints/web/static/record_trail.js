// The way of one answer as an auditor reads it: where, why, what else was offered, how long.

import { base, query } from "./api.js";
import { h } from "./dom.js";
import { span, t } from "./text.js";
import { ended, kindOf, reason } from "./trail.js";

/** Every stop of a record, with what was offered there and not chosen. */
export function recordTrail(record) {
  const stops = record.trail.map((visit, place) => stop(record, visit, place));
  return h("ol", { class: "trail wide-trail" }, stops, ended(record.outcome));
}

function stop(record, visit, place) {
  const before = record.trail.slice(0, place);
  const kind = kindOf(visit, before);
  const node = `${base}/c/${encodeURIComponent(record.corpus)}/tree${query({ version: record.version, node: visit.path })}`;
  const name = visit.title || visit.path;
  return h("li", { class: kind },
    h("div", { class: "stop" }, h("span", {}, visit.status === "found" ? h("a", { href: node }, name) : name),
      h("small", { class: "quiet" }, t(`stop.${kind}`)), visit.status === "too_large" && h("small", { class: "quiet" }, t("stop.too_large")),
      visit.is_cut && h("small", { class: "quiet" }, t("record.cut"))),
    h("div", { class: visit.reason || visit.is_prefetched ? "" : "reason" }, reason(visit), visit.is_shared_reason && h("small", { class: "quiet" }, t("record.shared"))),
    h("small", { class: "quiet" }, t("record.times", { model: span(visit.model_ms), fetch: span(visit.fetch_ms), total: span(visit.elapsed_ms) })),
    h("small", { class: "quiet mono" }, visit.path),
    visit.source && h("small", { class: "quiet" }, [visit.source, visit.place].filter(Boolean).join(" › ")),
    offered(visit, record.trail.slice(place + 1)));
}

/** What was offered at a stop: chosen is what the walk came to from there. */
function offered(visit, after) {
  if (!visit.offered.length) return null;
  const folder = visit.path.slice(0, visit.path.lastIndexOf("/") + 1);
  const came = new Set(after.map(({ path }) => path));
  const isChosen = ({ name }) => came.has(`${folder}${name}.md`) || came.has(`${folder}${name}/SKILL.md`);
  const chosen = visit.offered.filter(isChosen);
  const others = visit.offered.filter((child) => !isChosen(child));
  return h("div", {},
    chosen.length > 0 && h("div", {}, h("span", { class: "quiet" }, `${t("record.chosen")} `), chosen.map(({ title, name }) => title || name).join(t("list.separator"))),
    others.length > 0 && h("details", {}, h("summary", {}, t("record.offered", { n: others.length })),
      h("ul", {}, others.map(({ title, name }) => h("li", {}, title || name)))));
}
