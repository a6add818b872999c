// The people of the tenant: roles in words, links to come in by, and going out.

import { get, patch, post, remove } from "../api.js";
import { at, h, put } from "../dom.js";
import { field, may, notAllowed, tick } from "../form.js";
import { showOnce } from "../once.js";
import { ask, note, page } from "../shell.js";
import { table } from "../table.js";
import { t, when } from "../text.js";

const ROLES = ["owner", "editor", "reviewer", "viewer"];
const once = h("div");

const show = () => page(async () => {
  if (!may("admin")) return notAllowed("admin");
  const [{ data: members }, { data: invitations }, me] = await Promise.all([get("/members"), get("/invitations"), get("/me")]);
  const open = invitations.filter(({ state }) => state === "open" || state === "expired");
  put(at("title-actions"), h("button", { class: "primary", onclick: invite }, t("members.invite")));
  return [
    once,
    table(t("members.now", { n: members.length }), [t("members.name"), t("members.role"), t("members.since"), ""], members.map((member) => row(member, me, isLastOwner(member, members)))),
    open.length > 0 && table(t("members.open"), [t("members.name"), t("members.role"), t("members.until"), ""], open.map(invited)),
    h("section", { class: "card" }, h("h2", {}, t("members.roles")), h("dl", { class: "facts" }, ROLES.map((role) => [h("dt", {}, t(`role.${role}`)), h("dd", {}, t(`role.${role}.how`))]))),
  ];
});

/** Without an owner nobody could let anybody in. */
const isLastOwner = ({ role }, members) => role === "owner" && members.filter((other) => other.role === "owner").length === 1;

const row = (member, me, isLast) => [
  [member.name, member.person_id === me.actor && h("small", { class: "quiet" }, ` ${t("members.you")}`), !member.has_password && h("small", { class: "quiet block" }, t("members.no_password"))],
  t(`role.${member.role}`),
  when(member.since),
  h("div", { class: "row" },
    h("button", { "aria-label": t("members.role_of", { name: member.name }), onclick: () => changeRole(member) }, t("members.change_role")),
    h("button", { "aria-label": t("members.reset_of", { name: member.name }), onclick: () => reset(member) }, t("members.reset")),
    !isLast && h("button", { class: "danger", "aria-label": t("members.remove_of", { name: member.name }), onclick: () => takeOut(member) }, t("members.remove"))),
];

const invited = (link) => [
  link.name,
  t(`role.${link.role}`),
  link.state === "expired" ? h("span", { class: "badge" }, t("members.link_over")) : when(link.expires_at),
  link.state === "open" && h("button", { class: "danger", "aria-label": t("members.revoke_of", { name: link.name }), onclick: () => revoke(link) }, t("revoke")),
];

const roles = (chosen) =>
  h("fieldset", {}, h("legend", {}, t("members.role")),
    ROLES.map((role) => tick({ type: "radio", name: "role", value: role, label: t(`role.${role}`), hint: t(`role.${role}.how`), checked: role === chosen })));

async function invite() {
  let link;
  const isDone = await ask({
    title: t("members.invite"),
    body: [field({ label: t("members.name"), name: "name", hint: t("members.name_how"), required: true, maxlength: 100 }), roles("viewer")],
    yes: t("members.make_link"),
    work: async (form) => { link = await post("/invitations", { name: form.get("name").trim(), role: form.get("role") }); },
  });
  if (!isDone) return;
  await show();
  showOnce(once, { title: t("members.link_for", { name: link.name }), words: t("members.hand_over", { until: when(link.expires_at) }), text: link.url });
}

async function changeRole(member) {
  const isDone = await ask({
    title: t("members.role_of", { name: member.name }),
    body: roles(member.role),
    yes: t("save"),
    work: (form) => patch(`/members/${member.person_id}`, { role: form.get("role") }),
  });
  if (isDone) await done("members.role_changed", member);
}

async function reset(member) {
  let link;
  const isDone = await ask({
    title: t("members.reset_of", { name: member.name }),
    body: h("p", {}, t("members.reset_how")),
    yes: t("members.make_link"),
    work: async () => { link = await post(`/members/${member.person_id}/reset-link`); },
  });
  if (isDone) showOnce(once, { title: t("members.reset_for", { name: member.name }), words: t("members.hand_over", { until: when(link.expires_at) }), text: link.url });
}

async function takeOut(member) {
  const isDone = await ask({
    title: t("members.remove_of", { name: member.name }),
    body: h("p", {}, t("members.remove_how")),
    yes: t("members.remove"),
    isDanger: true,
    work: () => remove(`/members/${member.person_id}`),
  });
  if (isDone) await done("members.removed", member);
}

async function revoke(link) {
  const isDone = await ask({
    title: t("members.revoke_of", { name: link.name }),
    body: h("p", {}, t("members.revoke_how")),
    yes: t("revoke"),
    isDanger: true,
    work: () => remove(`/invitations/${link.invitation_id}`),
  });
  if (isDone) await done("members.revoked", link);
}

async function done(words, { name }) {
  await show();
  note(t(words, { name }));
  at("main").focus();
}

show();
