// The trail of a run: one stop a visited node, lit as it happens. Shape and word, never colour alone.

import { h } from "./dom.js";
import { span, t } from "./text.js";

const GONE = new Set(["not_found", "failed"]);

/** What kind of stop a visit is. `before`: the visits so far, to know a way back. */
export function kindOf(visit, before) {
  if (GONE.has(visit.status)) return "missing";
  if (before.some((other) => other.path === visit.path && other.status === visit.status)) return "back";
  return visit.node_type === "document" ? "leaf" : "node";
}

/** One stop. */
export function stop(visit, before = []) {
  const kind = kindOf(visit, before);
  const ms = visit.elapsed_ms ?? (visit.model_ms || 0) + (visit.fetch_ms || 0);
  return h(
    "li",
    { class: kind },
    h("div", { class: "stop" }, h("span", {}, visit.title || visit.path), h("span", { class: "unseen" }, t(`stop.${kind}`)),
      h("small", { class: "quiet" }, span(ms)), visit.status === "too_large" && h("small", { class: "quiet" }, t("stop.too_large"))),
    h("div", { class: "reason" }, reason(visit)),
    h("small", { class: "quiet mono" }, visit.path),
  );
}

export const reason = (visit) =>
  visit.is_prefetched ? t("reason.start") : (visit.reason ?? t("reason.none"));

export const thinking = () =>
  h("li", { class: "thinking" }, h("div", { class: "stop" }, h("span", {}, t("stop.thinking"))));

export const ended = (outcome) =>
  h("li", { class: "end" }, h("div", { class: "stop" }, h("span", {}, t(`outcome.${outcome}`))));

/** A finished trail, folded: how many stops and how long, opened by a click. */
export function folded(visits, outcome, totalMs, isOpen = false) {
  const stops = visits.map((visit, place) => stop(visit, visits.slice(0, place)));
  const words = t("trail.summary", { fetches: visits.filter((visit) => !visit.is_prefetched).length, time: span(totalMs) });
  return h("details", { open: isOpen }, h("summary", {}, words), h("ol", { class: "trail" }, stops, ended(outcome)));
}

/** Numbered sources of an answer. `address(source)`: where its passage opens. */
export function sources(face, address) {
  const isCited = face.citations.length > 0;
  const shown = isCited ? face.citations : face.evidence;
  if (!shown.length) return null;
  return h(
    "section",
    { class: "stack", "aria-label": isCited ? t("sources.cited") : t("sources.read") },
    h("small", { class: "quiet" }, isCited ? t("sources.cited") : t("sources.read")),
    h("ol", { class: "sources" }, shown.map((source) =>
      h("li", {}, h("a", { href: address(source) },
        h("span", { class: "n" }, source.n),
        h("span", {}, h("strong", {}, source.title), h("br"), h("small", { class: "quiet" }, [source.source, source.place].filter(Boolean).join(" › "))))))),
  );
}

/** The answer's text with its numbered marks as links to the sources. */
export function answer(face, address) {
  const known = new Map(face.citations.map((source) => [source.doc_id, source]));
  const parts = face.answer.split(/\[(doc_chunk_\d+|\d+)\]/);
  const cited = (name) => known.get(name) ?? face.citations.find((source) => String(source.n) === name);
  return h("div", { class: "answer" }, parts.map((part, place) => {
    if (place % 2 === 0) return part;
    const source = cited(part);
    return source ? h("a", { href: address(source), "aria-label": t("sources.number", { n: source.n, title: source.title }) }, `[${source.n}]`) : `[${part}]`;
  }));
}

/** Replace a live list's last, breathing stop by what came. */
export function light(list, visit, before) {
  list.querySelector(".thinking")?.remove();
  const made = stop(visit, before);
  made.classList.add("fresh");
  list.append(made, thinking());
}

