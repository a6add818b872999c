// One question with its answer, while it is looked for and afterwards.

import { base, change, get, post } from "./api.js";
import { h, icon, put } from "./dom.js";
import { busy, failure, note } from "./shell.js";
import { watch } from "./stream.js";
import { t } from "./text.js";
import { answer, folded, light, sources, thinking } from "./trail.js";

const FETCHES = 8;
const REASONS = ["wrong", "incomplete", "outdated", "wrong_source", "unclear", "too_long", "other"];

const leaf = (face) => (source) =>
  `${base}/c/${encodeURIComponent(face.corpus)}/versions/${face.version}/leaves/${source.doc_id}?run=${face.run_id}`;

/** A turn that has ended, from what its record says. */
export function endedTurn(run, { hasFeedback = true, handOff = null } = {}) {
  const address = leaf(run);
  const isMissing = run.outcome !== "answered";
  return h(
    "article",
    { class: "turn", id: run.run_id },
    h("p", { class: "question" }, run.question),
    answer(run, address),
    run.is_doubtful && h("p", { class: "notice lit" }, t("turn.doubtful")),
    run.confidence === "weak" && h("p", { class: "quiet" }, t("turn.weak")),
    sources(run, address),
    isMissing && handOff && h("p", {}, h("a", { class: "button", href: handOff }, t("turn.hand_off"))),
    folded(run.trail ?? [], run.outcome, run.total_ms),
    hasFeedback && feedback(run),
  );
}

/** A turn that is being answered. `walked(visit)` is told each stop, `ended(run)` the end. */
export function liveTurn(run, { walked = () => {}, ended = () => {}, say = () => {} }) {
  const list = h("ol", { class: "trail" }, thinking());
  const draft = h("p", { class: "draft", "aria-hidden": "true" });
  const fetched = h("span", { class: "quiet num" }, `0/${FETCHES}`);
  const halt = h("button", { onclick: () => busy(halt, () => post(`/runs/${run.run_id}/cancel`)) }, icon("stop", 16), t("turn.stop"));
  const place = h("article", { class: "turn", id: run.run_id, "aria-busy": "true" },
    h("p", { class: "question" }, run.question), list, draft, h("div", { class: "row" }, fetched, halt));
  const visits = [];
  const off = watch(`run:${run.run_id}`, 0, async ({ event, data }) => {
    if (event === "round.started") draft.replaceChildren();
    if (event === "text.delta") draft.append(data.text);
    if (event === "round.delayed") put(draft, t("turn.delayed", { seconds: Math.round(data.seconds) }));
    if (event === "node.visited") {
      light(list, data, visits);
      visits.push(data);
      fetched.textContent = `${visits.filter((visit) => !visit.is_prefetched).length}/${FETCHES}`;
      say(t("turn.visited", { title: data.title || data.path }));
      walked(data, visits);
    }
    if (event === "run.finished") {
      off();
      const face = { ...data, trail: visits };
      place.replaceWith(endedTurn(face));
      say(`${t(`outcome.${face.outcome}`)}. ${face.answer}`);
      ended(face);
    }
  });
  return place;
}

function feedback(run) {
  const place = h("div", { class: "row no-print" });
  const give = (rating, more = {}) =>
    change(`/runs/${run.run_id}/feedback`, { rating, ...more }).then((said) => show(said));
  const show = (said) => {
    const mark = (rating, word) =>
      h("button", { class: "chip", "aria-pressed": String(said?.rating === rating), onclick: (event) =>
        busy(event.currentTarget, () => give(rating).then(() => rating === "not_helpful" && ask())) }, word);
    put(place, mark("helpful", t("feedback.helpful")), mark("not_helpful", t("feedback.not_helpful")),
      h("button", { class: "chip", onclick: () => navigator.clipboard.writeText(run.answer).then(() => note(t("copied"))) }, t("copy")));
  };
  const ask = () => {
    const comment = h("textarea", { name: "comment", id: `comment-${run.run_id}`, maxlength: 4000 });
    const chosen = REASONS.map((name) => h("label", { class: "check" }, h("input", { type: "checkbox", name: "reason", value: name }), t(`feedback.${name}`)));
    const form = h("form", { class: "card", onsubmit: (event) => {
      event.preventDefault();
      const data = new FormData(form);
      give("not_helpful", { reasons: data.getAll("reason"), comment: data.get("comment") || null })
        .then(() => { form.remove(); note(t("feedback.thanks")); }, (error) => form.append(failure(error)));
    } }, h("fieldset", {}, h("legend", {}, t("feedback.why")), h("div", { class: "row" }, chosen)),
      h("div", { class: "field" }, h("label", { for: comment.id }, t("feedback.comment")), comment),
      h("div", { class: "actions" }, h("button", { type: "button", onclick: () => form.remove() }, t("close")), h("button", { class: "primary" }, t("feedback.send"))));
    place.after(form);
    comment.focus();
  };
  show(run.feedback);
  return place;
}

export const fetchRun = (id) => get(`/runs/${id}`);
