// Keys of providers: which there are, what each pays for, whether it works. A key itself is never shown again.

import { base, change, get, post, remove } from "../api.js";
import { at, h, put } from "../dom.js";
import { field, may, notAllowed } from "../form.js";
import { ask, busy, note, page } from "../shell.js";
import { ago, money, span, t, when } from "../text.js";

const PROVIDERS = ["anthropic", "openai", "azure", "bedrock", "vertex"];
const address = (provider) => `/provider-credentials/${encodeURIComponent(provider)}`;
const called = (provider) => (PROVIDERS.includes(provider) ? t(`provider.${provider}`) : provider);

const show = () => page(async () => {
  if (!may("admin")) return notAllowed("admin");
  const { data: keys } = await get("/provider-credentials");
  const missing = PROVIDERS.filter((name) => !keys.some(({ provider }) => provider === name));
  put(at("title-actions"), keys.length > 0 && missing.length > 0 && h("button", { class: "primary", onclick: () => add(missing) }, t("provider_keys.add")));
  return [h("p", { class: "quiet" }, t("provider_keys.about")), keys.length ? h("div", { class: "stack" }, keys.map(card)) : empty(missing)];
});

const empty = (missing) =>
  h(
    "div",
    { class: "empty" },
    h("h2", {}, t("provider_keys.none")),
    h("p", {}, t("provider_keys.none_how")),
    h("button", { class: "primary", onclick: () => add(missing) }, t("provider_keys.add")),
  );

function card(key) {
  const said = h("div", { role: "status" }, key.last_test && tested(key.last_test));
  return h(
    "section",
    { class: "card", "aria-labelledby": `key-${key.provider}` },
    h("header", {}, h("h2", { id: `key-${key.provider}` }, called(key.provider)), state(key)),
    h("dl", { class: "facts" }, facts(key).map(([name, ...value]) => [h("dt", {}, name), h("dd", {}, value)])),
    said,
    h(
      "div",
      { class: "row" },
      h("button", { onclick: (event) => busy(event.target, () => test(key, said)) }, t("provider_keys.test")),
      h("button", { onclick: () => replace(key) }, t("provider_keys.replace")),
      h("button", { class: "danger", onclick: () => drop(key) }, t("delete")),
    ),
  );
}

function state({ last_test: test }) {
  if (!test) return h("span", { class: "badge" }, t("provider_keys.untested"));
  return h("span", { class: `badge ${test.ok ? "good" : "bad"}` }, t(test.ok ? "provider_keys.works" : "provider_keys.fails"));
}

function facts(key) {
  const pays = key.pays_for.map(({ role, model }) => h("li", {}, t(`model_role.${role}`), ": ", h("code", {}, model)));
  return [
    [t("provider_keys.key"), key.has_secret ? h("span", { class: "mono" }, `••••${key.last_four}`) : t("provider_keys.keyless")],
    key.label && [t("provider_keys.label"), key.label],
    key.base_url && [t("provider_keys.address"), h("span", { class: "mono" }, key.base_url)],
    [t("provider_keys.pays_for"), pays.length ? h("ul", { class: "bare" }, pays) : [t("provider_keys.pays_nothing"), " ", h("a", { href: `${base}/settings/limits` }, t("title.limits"))]],
    [t("provider_keys.used"), key.last_used_at ? `${when(key.last_used_at)} (${ago(key.last_used_at)})` : t("never_yet")],
    [t("provider_keys.stored"), when(key.changed_at)],
  ].filter(Boolean);
}

/** What came of the last try, with what it cost. */
function tested(test) {
  const about = { model: test.model, time: span(test.ms), cost: money(test.dollars), ago: ago(test.at) };
  return h(
    "div",
    { class: test.ok ? "notice" : "notice bad" },
    h("p", {}, test.ok ? t("provider_keys.test_good") : test.detail),
    h("small", {}, t("provider_keys.test_about", about)),
  );
}

async function test(key, said) {
  let result;
  const isDone = await ask({
    title: t("provider_keys.test_title", { provider: called(key.provider) }),
    body: h("p", {}, t("provider_keys.test_how")),
    yes: t("provider_keys.test_yes"),
    work: async () => { result = await post(`${address(key.provider)}/test`, { confirm: true }); },
  });
  if (!isDone) return;
  put(said, tested(result));
  said.closest(".card").querySelector("header .badge").replaceWith(state({ last_test: result }));
}

function fields(key) {
  return [
    field({
      label: t("provider_keys.key"), name: "secret", type: "password", class: "mono", spellcheck: "false",
      hint: t(key ? "provider_keys.empty_keeps" : "provider_keys.never_shown"),
      placeholder: key?.has_secret ? `••••${key.last_four}` : null,
    }),
    field({ label: t("provider_keys.label_optional"), name: "label", value: key?.label ?? "", maxlength: 100 }),
    field({ label: t("provider_keys.address_optional"), name: "base_url", type: "url", value: key?.base_url ?? "", hint: t("provider_keys.address_how"), placeholder: "https://" }),
  ];
}

const wanted = ({ secret, label, base_url: url }) => ({ secret, label: label || null, base_url: url || null });

async function add(missing) {
  await ask({
    title: t("provider_keys.add"),
    body: [field({ label: t("provider_keys.provider"), name: "provider", choices: missing.map((name) => [name, called(name)]) }), fields(null)],
    yes: t("save"),
    work: async (form) => {
      const { provider, ...rest } = Object.fromEntries(form);
      await post("/provider-credentials", { provider, ...wanted(rest) });
    },
  }).then((isDone) => isDone && stored("provider_keys.added"));
}

async function replace(key) {
  const isDone = await ask({
    title: t("provider_keys.replace_title", { provider: called(key.provider) }),
    body: fields(key),
    yes: t("save"),
    work: (form) => change(address(key.provider), wanted(Object.fromEntries(form))),
  });
  if (isDone) stored("provider_keys.saved");
}

async function drop(key) {
  const roles = key.pays_for.map(({ role }) => t(`model_role.${role}`)).join(t("list.separator"));
  const isDone = await ask({
    title: t("provider_keys.delete_title", { provider: called(key.provider) }),
    body: h("p", {}, roles ? t("provider_keys.delete_stops", { roles }) : t("provider_keys.delete_how")),
    yes: t("delete"),
    isDanger: true,
    work: () => remove(address(key.provider)),
  });
  if (isDone) stored("provider_keys.deleted");
}

async function stored(words) {
  await show();
  note(t(words));
  at("main").focus();
}

show();
