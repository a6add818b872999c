// The settings: what there is to set, each with its state in a line.

import { base, get } from "../api.js";
import { h, put } from "../dom.js";
import { may } from "../form.js";
import { page } from "../shell.js";
import { ago, count, money, t, when } from "../text.js";

const first = async (path) => (await get(path)).data[0];
const many = async (path) => (await get(path)).data;

/** Name, the permission it takes to see it, and its state in words. */
const CARDS = [
  ["keys", "admin", keysNow],
  ["limits", "write", limitsNow],
  ["tokens", "admin", tokensNow],
  ["members", "admin", membersNow],
  ["log", "admin", logNow],
  ["retention", "admin", retentionNow],
  ["account", "read", accountNow],
];

page(async () => {
  const shown = CARDS.filter(([, scope]) => may(scope));
  return [
    h("ul", { class: "cards bare" }, shown.map(card)),
    shown.length < CARDS.length && h("p", { class: "quiet" }, t("settings.more_for_owners")),
  ];
});

function card([name, , state]) {
  const line = h("p", { class: "state" }, t("waiting"));
  state().then((words) => put(line, words), () => put(line, t("settings.state_unknown")));
  return h(
    "li",
    { class: "card leads" },
    h("h2", {}, h("a", { href: `${base}/settings/${name}` }, t(`title.${name}`))),
    h("p", { class: "quiet" }, t(`settings.about_${name}`)),
    line,
  );
}

async function keysNow() {
  const keys = await many("/provider-credentials");
  return keys.length ? keys.map(({ provider }) => t(`provider.${provider}`)).join(t("list.separator")) : t("settings.no_keys");
}

async function limitsNow() {
  const { month } = await get("/usage");
  const spent = money(month.dollars);
  return month.cap === null ? t("settings.spent", { spent }) : t("settings.spent_of", { spent, cap: money(month.cap) });
}

async function tokensNow() {
  const living = (await many("/api-tokens")).filter((token) => !token.revoked_at && !(new Date(token.expires_at ?? "9999") < new Date()));
  return living.length ? t("settings.tokens_now", { n: count(living.length) }) : t("settings.no_tokens");
}

async function membersNow() {
  const [members, invitations] = await Promise.all([many("/members"), many("/invitations")]);
  const open = invitations.filter(({ state }) => state === "open").length;
  const n = count(members.length);
  return open ? t("settings.members_invited", { n, open: count(open) }) : t("settings.members_now", { n });
}

async function logNow() {
  const newest = await first("/audit-events?limit=1");
  return newest ? t("settings.log_now", { ago: ago(newest.at), text: newest.text }) : t("log.empty");
}

async function retentionNow() {
  const { next_run_at: next, holds } = await get("/retention");
  const words = next ? t("settings.retention_next", { when: when(next) }) : t("settings.kept_for_ever");
  return holds ? words + t("list.separator") + t("settings.holds_now", { n: count(holds) }) : words;
}

async function accountNow() {
  const { name, tenant } = await get("/me");
  return t("settings.account_now", { name, tenant });
}
