// One's own account: password, language, tenant, and the browsers that are signed in.

import { base, change, get, remove } from "../api.js";
import { at, h } from "../dom.js";
import { field, typed } from "../form.js";
import { ask, busy, note, page, speak } from "../shell.js";
import { table } from "../table.js";
import { ago, t, when } from "../text.js";

const LANGUAGES = [["", "account.as_browser"], ["ja", "account.ja"], ["en", "account.en"]];

const show = () => page(async () => {
  const [me, { data: browsers }] = await Promise.all([get("/me"), get("/sign-ins")]);
  return [h("div", { class: "cards" }, identity(me), language(me)), password(me), signIns(browsers)];
});

function identity({ name, tenant, person }) {
  const role = person.tenants.find((one) => one.tenant === tenant)?.role;
  return h(
    "section",
    { class: "card", "aria-labelledby": "me" },
    h("h2", { id: "me" }, name),
    h("dl", { class: "facts" }, h("dt", {}, t("account.tenant")), h("dd", {}, tenant), role && [h("dt", {}, t("members.role")), h("dd", {}, t(`role.${role}`), h("small", { class: "quiet block" }, t(`role.${role}.how`)))]),
    person.tenants.length > 1 && tenants(tenant, person.tenants),
  );
}

function tenants(now, all) {
  const form = h(
    "form",
    { class: "stack", onsubmit: (event) => { event.preventDefault(); busy(event.submitter, async () => { await change("/me/tenant", typed(form)); location.assign(`${base}/`); }); } },
    field({ label: t("account.other_tenant"), name: "tenant", value: now, choices: all.map(({ tenant, role }) => [tenant, `${tenant} (${t(`role.${role}`)})`]) }),
    h("div", {}, h("button", {}, t("account.switch"))),
  );
  return form;
}

function language({ person }) {
  const form = h(
    "form",
    { class: "card", onsubmit: (event) => { event.preventDefault(); busy(event.submitter, () => choose(typed(form).language || null)); } },
    h("h2", {}, t("account.language")),
    field({ label: t("account.language_of"), name: "language", hint: t("account.language_how"), value: person.language ?? "", choices: LANGUAGES.map(([value, words]) => [value, t(words)]) }),
    h("div", {}, h("button", {}, t("save"))),
  );
  return form;
}

async function choose(wanted) {
  await change("/me/language", { language: wanted });
  speak(wanted);
}

function password({ name, person }) {
  const form = h(
    "form",
    { class: "card", onsubmit: (event) => { event.preventDefault(); busy(event.submitter, () => renew(form)); } },
    h("h2", {}, t("account.password")),
    // Password managers want to know whose it is.
    h("input", { type: "text", name: "username", value: name, autocomplete: "username", hidden: true, readonly: true }),
    person.has_password ? field({ label: t("account.current"), name: "current", type: "password", autocomplete: "current-password", required: true }) : h("p", { class: "quiet" }, t("account.no_password")),
    field({ label: t("account.new"), name: "new", type: "password", autocomplete: "new-password", required: true, minlength: 12, hint: t("account.rules") }),
    h("div", {}, h("button", { class: "primary" }, t(person.has_password ? "account.change_password" : "account.set_password"))),
  );
  return form;
}

async function renew(form) {
  // As it was typed: a blank at an end belongs to the password.
  const given = new FormData(form);
  await change("/password", { current: given.get("current") ?? "", new: given.get("new") });
  await show();
  note(t("account.password_changed"));
  at("main").focus();
}

function signIns(browsers) {
  const others = browsers.filter(({ is_this: isThis }) => !isThis).length;
  const row = (one) => [
    [h("span", { class: "row" }, called(one.agent), one.is_this && h("span", { class: "badge good" }, t("account.this")))],
    ago(one.seen_at),
    when(one.created_at),
    when(one.expires_at),
    !one.is_this && h("button", { "aria-label": t("account.end_named", { name: called(one.agent) }), onclick: (event) => busy(event.currentTarget, () => end(one)) }, t("account.end")),
  ];
  return h(
    "section",
    { class: "stack section", "aria-labelledby": "browsers" },
    h("h2", { id: "browsers" }, t("account.sign_ins")),
    h("p", { class: "quiet" }, t("account.sign_ins_about")),
    table(t("account.browsers"), [t("account.browser"), t("account.seen"), t("account.began"), t("account.ends"), ""], browsers.map(row)),
    h("div", { class: "row" },
      others > 0 && h("button", { onclick: () => endAll("?others=true") }, t("account.end_others")),
      h("button", { class: "danger", onclick: () => endAll("") }, t("account.end_all"))),
  );
}

async function end(one) {
  await remove(`/sign-ins/${one.sign_in_id}`);
  await show();
  note(t("account.ended"));
  at("main").focus();
}

async function endAll(which) {
  const isDone = await ask({
    title: t(which ? "account.end_others" : "account.end_all"),
    body: h("p", {}, t(which ? "account.end_others_how" : "account.end_all_how")),
    yes: t("account.end"),
    isDanger: true,
    work: () => remove(`/sign-ins${which}`),
  });
  if (!isDone) return;
  if (!which) return location.assign(`${base}/sign-in`);
  await show();
  note(t("account.ended"));
}

const BROWSERS = [[/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Firefox\//, "Firefox"], [/Chrome\//, "Chrome"], [/Safari\//, "Safari"]];
const SYSTEMS = [[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/Mac OS/, "macOS"], [/CrOS/, "ChromeOS"], [/Linux/, "Linux"]];

/** A browser's name from what it calls itself; the whole of it where that says nothing. */
function called(agent) {
  const named = (all) => all.find(([sign]) => sign.test(agent))?.[1];
  return [named(BROWSERS), named(SYSTEMS)].filter(Boolean).join(", ") || agent || t("account.unknown_browser");
}

show();
