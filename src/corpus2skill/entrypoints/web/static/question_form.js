// The fields of a test question: what is asked, and what a good answer rests on.

import { h } from "./dom.js";
import { field, tick } from "./form.js";
import { t } from "./text.js";

/** `{ body, values() }` for a question as the API has it. */
export function expectation(question) {
  const text = area(t("tests.question"), "question", question.question ?? "", { required: true, maxlength: 20000 });
  const sources = area(t("tests.sources"), "sources", (question.expected_sources ?? []).join("\n"), {}, t("tests.sources_hint"));
  const nothing = tick({ label: t("tests.not_found"), name: "nothing", checked: question.expects_not_found });
  const body = h("div", { class: "stack" }, text, sources, nothing);
  const value = (name) => body.querySelector(`[name=${name}]`);
  return {
    body,
    values: () => ({
      question: value("question").value.trim(),
      expected_sources: value("sources").value.split("\n").map((line) => line.trim()).filter(Boolean),
      expects_not_found: value("nothing").checked,
    }),
  };
}

/** A labelled place for several lines. */
function area(label, name, value, more, hint) {
  const made = field({ label, name, hint });
  const input = made.querySelector("input");
  const lines = h("textarea", { id: input.id, name, rows: 3, value, "aria-describedby": input.getAttribute("aria-describedby"), ...more });
  input.replaceWith(lines);
  return made;
}
