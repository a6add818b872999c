// What the owner of a corpus sets for it, and its end.

import { base, patch, remove } from "../api.js";
import { apiOf, corpusTabs, name } from "../corpus_tabs.js";
import { h } from "../dom.js";
import { field, may, notAllowed, tick } from "../form.js";
import { ask, busy, note, page } from "../shell.js";
import { count, t } from "../text.js";

page(async () => {
  const corpus = await corpusTabs("settings");
  return may("write") ? [settings(corpus), may("admin") && danger(corpus)] : notAllowed("write");
});

function settings(corpus) {
  const button = h("button", { class: "primary" }, t("save"));
  const form = h("form", { class: "card", onsubmit: (event) => {
    event.preventDefault();
    busy(button, async () => {
      corpus = await patch(apiOf, changes(new FormData(form), corpus));
      await corpusTabs("settings");
      note(t("corpus.saved"));
    });
  } },
    field({ label: t("corpus.title"), name: "title", maxlength: 200, value: corpus.title ?? "", hint: t("corpus.title_how", { name }) }),
    field({ label: t("corpus.language"), name: "language", value: corpus.language ?? "", choices: [["", t("corpus.language_auto")], ["ja", "日本語"], ["en", "English"]] }),
    field({ label: t("corpus.hand_off"), name: "hand_off", type: "url", maxlength: 500, value: corpus.hand_off ?? "", placeholder: "mailto:support@example.jp", hint: t("corpus.hand_off_how") }),
    h("fieldset", {}, h("legend", {}, t("corpus.tests")),
      tick({ label: t("corpus.tests_required"), hint: t("corpus.tests_how"), name: "tests_required", checked: corpus.tests_required }),
      field({ label: t("corpus.tests_percent"), name: "tests_percent", type: "number", min: 1, max: 100, value: corpus.tests_percent })),
    h("details", {}, h("summary", {}, t("corpus.chunks")), h("p", { class: "quiet" }, t("corpus.chunks_how")),
      field({ label: t("corpus.chunk_limit"), name: "chunk_limit", type: "number", min: 1, max: 1000000, value: corpus.chunk_limit ?? "", placeholder: t("corpus.as_workspace") }),
      field({ label: t("corpus.chunk_minimum"), name: "chunk_minimum", type: "number", min: 0, max: 1000000, value: corpus.chunk_minimum ?? "", placeholder: t("corpus.as_workspace") })),
    h("div", {}, button));
  return form;
}

/** Only what differs: what somebody else set meanwhile stays. */
function changes(form, corpus) {
  const number = (key) => (form.get(key) === "" ? null : Number(form.get(key)));
  const wanted = {
    title: form.get("title").trim() || null, language: form.get("language") || null, hand_off: form.get("hand_off").trim() || null,
    tests_required: form.has("tests_required"), tests_percent: number("tests_percent") ?? 100,
    chunk_limit: number("chunk_limit"), chunk_minimum: number("chunk_minimum"),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value !== corpus[key]));
}

function danger(corpus) {
  const documents = Object.values(corpus.documents).reduce((sum, number) => sum + number, 0);
  const words = t("corpus.delete_how", { documents: count(documents), versions: count(corpus.versions) });
  const button = h("button", { class: "danger", onclick: async () => {
    const isDone = await ask({
      title: t("corpus.delete_title", { title: corpus.title || name }), isDanger: true, yes: t("corpus.delete"),
      body: [h("p", {}, words), h("p", {}, t("corpus.delete_records")), field({ label: t("corpus.delete_type", { name }), name: "confirm", required: true, class: "mono" })],
      work: (form) => remove(`${apiOf}?${new URLSearchParams({ confirm: form.get("confirm").trim() })}`),
    });
    if (isDone) location.assign(`${base}/knowledge`);
  } }, t("corpus.delete"));
  return h("section", { class: "card", "aria-labelledby": "delete" }, h("h2", { id: "delete" }, t("corpus.delete")), h("p", {}, words), h("div", {}, button));
}
