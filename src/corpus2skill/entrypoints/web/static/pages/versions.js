// Versions of a corpus: which one answers, what they are made of, how they differ; switch, go back, remove.

import { base, get, query } from "../api.js";
import { apiOf, corpusTabs, name, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { busy, page } from "../shell.js";
import { table } from "../table.js";
import { bytes, count, money, t, when } from "../text.js";
import { askPrune, askRemove, askSwitch } from "../version_dialogs.js";

const view = () => page(build);
view();

async function build() {
  const [corpus, first, active] = await Promise.all([corpusTabs("versions"), get(`${apiOf}/versions?limit=50`), get(`${apiOf}/active`).catch(damaged)]);
  put(at("title-actions"), actions(active, first.data));
  if (!first.data.length) return nothing(corpus);
  const list = h("div");
  const found = [...first.data];
  let cursor = first.next_cursor;
  const more = h("button", { hidden: !cursor, onclick: () => busy(more, async () => {
    const next = await get(`${apiOf}/versions${query({ limit: 50, cursor })}`);
    found.push(...next.data);
    cursor = next.next_cursor;
    more.hidden = !cursor;
    show();
  }) }, t("more"));
  const show = () => put(list, versionTable(found, active));
  show();
  return [
    active.error && h("p", { class: "notice bad" }, active.error.message),
    !may("write") && h("p", { class: "notice" }, t("versions.look_only")),
    found.length > 1 && compare(found, active),
    list,
    more,
  ];
}

/** Nobody can tell which version is active: the list still shows, and naming one mends it. */
function damaged(error) {
  if (error.status !== 500) throw error;
  return { version: null, previous: null, error };
}

function nothing(corpus) {
  const has = Object.values(corpus.documents ?? {}).some(Boolean);
  return h("div", { class: "empty" }, h("h2", {}, t("versions.none")), h("p", {}, t("versions.none_how")),
    may("write") ? h("a", { class: "button primary", href: `${pathOf}/${has ? "compile" : "documents"}` }, t(has ? "tree.to_compile" : "tree.to_documents")) : notAllowed("write"));
}

/** A button that asks first. What was done, by this person or by one who was faster, is loaded anew; who thought
 *  better of it stands on the button again. */
const asks = (dialog) => async ({ currentTarget: button }) => {
  let isDone = false;
  await busy(button, async () => { isDone = await dialog(); });
  if (!isDone) return button.focus();
  await view();
  at("main").focus({ preventScroll: true });
};

function actions(active, versions) {
  if (!may("write") || !versions.length) return [];
  return [
    active.previous && h("button", { id: "roll-back", onclick: asks(() => askSwitch(active.version, active.previous, { isBack: true })) }, t("versions.roll_back", { version: active.previous })),
    h("button", { onclick: asks(askPrune) }, t("versions.prune")),
  ].filter(Boolean);
}

/** Any two; the one before the newest and the newest to begin with. */
function compare(found, active) {
  const choices = (chosen) => found.map(({ version }) => h("option", { value: version, selected: version === chosen }, t(version === active.version ? "tree.version_active" : "tree.version", { version })));
  const [newest, second] = found;
  const form = h("form", { class: "filters compare", "aria-label": t("versions.compare"), onsubmit: (event) => {
    event.preventDefault();
    const data = new FormData(form);
    location.assign(`${pathOf}/versions/${data.get("before")}/diff/${data.get("after")}`);
  } },
  h("div", { class: "field" }, h("label", { for: "before" }, t("versions.before")), h("select", { id: "before", name: "before" }, choices(second.version))),
  h("div", { class: "field" }, h("label", { for: "after" }, t("versions.after")), h("select", { id: "after", name: "after" }, choices(newest.version))),
  h("button", {}, t("versions.compare")));
  return form;
}

function versionTable(found, active) {
  const columns = [t("versions.version"), t("versions.made"), [t("versions.documents"), "num"], [t("versions.leaves"), "num"], [t("versions.size"), "num"], [t("versions.cost"), "num"], t("versions.tests"), ""];
  return table(t("versions.caption"), columns, found.map((one) => row(one, active)));
}

function row(one, active) {
  const number = (value) => (value === null ? "—" : count(value));
  return [
    h("div", { class: "row" }, h("a", { href: `${pathOf}/tree${query({ version: one.version })}` }, t("tree.version", one)), state(one)),
    h("span", {}, when(one.created_at), h("br"), h("small", { class: "quiet" }, one.author_name ?? t(one.job_id ? "versions.by_token" : "versions.by_command"))),
    number(one.sources), number(one.chunks), bytes(one.bytes), one.dollars === null ? "—" : money(one.dollars), score(one),
    h("div", { class: "row" }, buttons(one, active)),
  ];
}

function state(one) {
  if (!one.is_readable) return h("span", { class: "badge bad" }, t("versions.damaged"));
  if (one.is_active) return h("span", { class: "badge good" }, t("versions.active"));
  return one.is_previous && h("span", { class: "badge" }, t("versions.previous"));
}

function score({ tests }) {
  if (!tests) return h("span", { class: "quiet" }, t("versions.untested"));
  return h("a", { href: `${base}/tests${query({ corpus: name })}` }, h("span", { class: tests.passed === tests.questions ? "badge good" : "badge lit" }, t("versions.score", tests)));
}

function buttons(one, active) {
  const change = one.predecessor && h("a", { class: "button", "aria-label": t("versions.changes_of", one), href: `${pathOf}/versions/${one.predecessor}/diff/${one.version}` }, t("versions.changes"));
  if (!may("write") || one.is_active) return [change].filter(Boolean);
  return [
    change,
    one.is_readable && h("button", { "aria-label": t("versions.activate_of", one), onclick: asks(() => askSwitch(active.version, one.version)) }, t("versions.activate")),
    h("button", { class: "danger", "aria-label": t("versions.remove_of", one), onclick: asks(() => askRemove(one)) }, t("versions.remove")),
  ].filter(Boolean);
}
