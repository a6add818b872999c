// Models for the roles, limits of spending and pace, and what was used so far.

import { get, Problem, whole } from "../api.js";
import { h, put } from "../dom.js";
import { field, may, notAllowed } from "../form.js";
import { busy, failure, note, page } from "../shell.js";
import { t } from "../text.js";
import { month, sums } from "../usage.js";

const MODELS = ["model", "summary_model", "grouping_model", "navigation_model"];
const MONEY = ["month_cost", "day_cost", "session_cost", "question_cost", "max_cost"];
const PACE = ["concurrency", "requests_per_minute", "tokens_per_minute"];
const PRICES = ["prices", "input_price", "output_price"];
const HINTED = new Set(["model", "month_cost", "max_cost", "concurrency", "prices", "input_price", "last_word"]);
const KNOWN = ["offline", "anthropic", "openai", "azure", "bedrock", "vertex"];

page(async () => {
  if (!may("write")) return notAllowed("write");
  const [settings, usage] = await Promise.all([whole("GET", "/settings"), get("/usage")]);
  const place = h("div", {}, form(settings));
  return [month(usage), h("section", { class: "stack section", "aria-labelledby": "set" }, h("h2", { id: "set" }, t("limits.title")), place), sums()];

  function form({ content, etag }) {
    const set = content.settings;
    const said = h("div");
    const made = h(
      "form",
      { class: "stack", novalidate: true, onsubmit: (event) => { event.preventDefault(); busy(event.submitter, () => save(made, set, etag, said)); } },
      h("datalist", { id: "models" }, KNOWN.map((name) => h("option", { value: name }))),
      !may("admin") && h("p", { class: "notice" }, t("limits.look_only")),
      h("p", { class: "quiet" }, t("limits.how")),
      group("models", MODELS, set, { list: "models", spellcheck: "false" }),
      group("money", [...MONEY, "last_word"], set, { inputmode: "decimal" }),
      h("details", { class: "card" }, h("summary", {}, t("limits.more")), group("pace", PACE, set, { inputmode: "numeric" }), group("prices", PRICES, set, { inputmode: "decimal" })),
      said,
      may("admin") && h("div", { class: "row" }, h("button", { class: "primary" }, t("save"))),
    );
    return made;
  }

  function again(settings) {
    put(place, form(settings));
    place.querySelector("input").focus();
  }

  async function save(made, set, etag, said) {
    put(said);
    const body = changes(made, set);
    if (!Object.keys(body).length) return note(t("limits.unchanged"));
    try {
      again(await whole("PATCH", "/settings", { body, headers: { "If-Match": etag } }));
      note(t("saved"));
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 412) throw error;
      put(said, failure(error), h("div", {}, h("button", { type: "button", onclick: async () => again(await whole("GET", "/settings")) }, t("load_anew"))));
    }
  }
});

const group = (name, names, set, props) =>
  h("fieldset", { class: name === "models" || name === "money" ? "card" : "stack", disabled: !may("admin") }, h("legend", { class: "unseen" }, t(`limits.${name}`)), h("h3", { "aria-hidden": "true" }, t(`limits.${name}`)),
    h("div", { class: "fields" }, names.filter((key) => set[key]).map((key) => one(key, set[key], props))));

/** An empty field is the server's setting, which stands in it in grey. */
function one(name, { value, origin }, props) {
  const own = origin === "tenant" ? String(value) : "";
  const hint = HINTED.has(name) ? t(`limits.${name}.how`) : null;
  if (name === "last_word") {
    const choices = [["", t("limits.as_server")], ["stop", t("limits.last_word.stop")], ["answer", t("limits.last_word.answer")]];
    return field({ label: t("limits.last_word"), name, value: own, hint, choices });
  }
  const inForce = value === null ? t("limits.none") : String(value);
  return field({ label: t(`limits.${name}`), name, value: own, hint, placeholder: origin === "server" ? t("limits.from_server", { value: inForce }) : null, ...props });
}

/** Only what was changed is sent, so that two people who change different things both keep theirs. */
function changes(form, set) {
  const found = {};
  for (const [name, given] of new FormData(form)) {
    const text = given.trim();
    const before = set[name].origin === "tenant" ? String(set[name].value) : "";
    if (text !== before) found[name] = text === "" ? null : typedAs(name, text);
  }
  return found;
}

const typedAs = (name, text) => {
  if (![...MONEY, ...PACE, "input_price", "output_price"].includes(name)) return text;
  const number = Number(text.normalize("NFKC").replace(/[,$\s]/g, ""));
  return Number.isNaN(number) ? text : number;
};
