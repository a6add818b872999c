// Was the answer helpful? And what else one does with an answer: copy it.

import { change } from "./api.js";
import { h } from "./dom.js";
import { field } from "./form.js";
import { copied } from "./once.js";
import { busy, note } from "./shell.js";
import { t } from "./text.js";

const REASONS = ["wrong", "incomplete", "outdated", "wrong_source", "unclear", "too_long", "other"];

/** Two buttons, the reasons below them where the answer did not help, and a button that copies it. */
export function feedback(run) {
  const put = (rating, more = {}) => change(`/runs/${run.run_id}/feedback`, { rating, ...more });
  const marks = ["helpful", "not_helpful"].map((rating) =>
    h("button", { class: "chip", "aria-pressed": String(run.feedback?.rating === rating), onclick: ({ currentTarget }) =>
      busy(currentTarget, async () => {
        await put(rating);
        for (const mark of marks) mark.setAttribute("aria-pressed", String(mark === currentTarget));
        place.querySelector("form")?.remove();
        if (rating === "not_helpful") place.append(why(put));
        place.querySelector("form input")?.focus();
      }) }, t(`feedback.${rating}`)));
  const place = h("div", { class: "stack no-print" }, h("div", { class: "row" }, marks,
    h("button", { class: "chip", onclick: () => copied(run.answer) }, t("copy"))));
  return place;
}

function why(put) {
  const reasons = REASONS.map((name) =>
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "reason", value: name }), t(`feedback.${name}`)));
  const send = h("button", { class: "primary" }, t("feedback.send"));
  const form = h("form", { class: "card", onsubmit: (event) => {
    event.preventDefault();
    const said = new FormData(form);
    busy(send, async () => {
      await put("not_helpful", { reasons: said.getAll("reason"), comment: said.get("comment").trim() || null });
      form.remove();
      note(t("feedback.thanks"));
    });
  } },
  h("fieldset", {}, h("legend", {}, t("feedback.why")), h("div", { class: "row" }, reasons)),
  field({ label: t("feedback.comment"), name: "comment", maxlength: 4000 }),
  h("div", { class: "actions" }, h("button", { type: "button", onclick: () => form.remove() }, t("close")), send));
  return form;
}
