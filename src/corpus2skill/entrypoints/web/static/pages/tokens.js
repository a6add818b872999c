// Tokens of programs: what each may do, until when; a new one is shown once.

import { get, post, remove } from "../api.js";
import { at, h, put } from "../dom.js";
import { field, may, notAllowed, tick } from "../form.js";
import { showOnce } from "../once.js";
import { ask, note, page } from "../shell.js";
import { table } from "../table.js";
import { ago, t, when } from "../text.js";

const SCOPES = ["read", "ask", "records", "write", "admin"];
const DAYS = ["30", "90", "365", ""];
const once = h("div");

const show = () => page(async () => {
  if (!may("admin")) return notAllowed("admin");
  const { data: tokens } = await get("/api-tokens");
  const living = tokens.filter(isLiving);
  const dead = tokens.filter((token) => !isLiving(token));
  put(at("title-actions"), h("button", { class: "primary", onclick: add }, t("tokens.add")));
  return [
    h("p", { class: "quiet" }, t("tokens.about")),
    once,
    living.length ? list(t("tokens.living"), living) : h("div", { class: "empty" }, h("h2", {}, t("tokens.none")), h("p", {}, t("tokens.none_how"))),
    dead.length > 0 && h("details", {}, h("summary", {}, t("tokens.dead", { n: dead.length })), list(t("tokens.dead", { n: dead.length }), dead)),
  ];
});

const isLiving = (token) => !token.revoked_at && !isOver(token);
const isOver = ({ expires_at: end }) => end !== null && new Date(end) < new Date();

const list = (caption, tokens) =>
  table(caption, [t("tokens.name"), t("tokens.may"), t("tokens.until"), t("tokens.used"), ""], tokens.map(row));

const row = (token) => [
  [h("span", {}, token.name), h("small", { class: "mono block" }, `${token.beginning}…`)],
  h("ul", { class: "chips bare" }, token.scopes.map((scope) => h("li", { class: "badge", title: t(`scope.${scope}.how`) }, t(`scope.${scope}`)))),
  until(token),
  token.last_used_at ? ago(token.last_used_at) : t("never_yet"),
  isLiving(token) && h("button", { class: "danger", "aria-label": t("tokens.revoke_named", { name: token.name }), onclick: () => revoke(token) }, t("revoke")),
];

function until(token) {
  if (token.revoked_at) return h("span", { class: "badge bad" }, t("tokens.revoked"));
  if (isOver(token)) return h("span", { class: "badge" }, t("tokens.over"));
  return token.expires_at ? when(token.expires_at) : t("tokens.never");
}

async function add() {
  let made;
  const isDone = await ask({
    title: t("tokens.add"),
    body: [
      field({ label: t("tokens.name"), name: "name", hint: t("tokens.name_how"), required: true, maxlength: 100 }),
      h("fieldset", {}, h("legend", {}, t("tokens.may")),
        SCOPES.filter(may).map((scope) => tick({ label: t(`scope.${scope}`), hint: t(`scope.${scope}.how`), name: "scopes", value: scope, checked: scope === "read" || scope === "ask" }))),
      field({ label: t("tokens.until"), name: "days", value: "90", choices: DAYS.map((days) => [days, days ? t("tokens.days", { n: days }) : t("tokens.never")]) }),
    ],
    yes: t("tokens.make"),
    work: async (form) => { made = await post("/api-tokens", wanted(form)); },
  });
  if (!isDone) return;
  await show();
  showOnce(once, { title: t("tokens.made", { name: made.name }), words: t("tokens.once"), text: made.secret });
}

function wanted(form) {
  const days = Number(form.get("days"));
  const end = days ? new Date(Date.now() + days * 864e5).toISOString() : null;
  return { name: form.get("name").trim(), scopes: form.getAll("scopes"), expires_at: end };
}

async function revoke(token) {
  const isDone = await ask({
    title: t("tokens.revoke_title", { name: token.name }),
    body: h("p", {}, t("tokens.revoke_how")),
    yes: t("revoke"),
    isDanger: true,
    work: () => remove(`/api-tokens/${token.token_id}`),
  });
  if (!isDone) return;
  await show();
  note(t("tokens.revoked_now", { name: token.name }));
  at("main").focus();
}

show();
