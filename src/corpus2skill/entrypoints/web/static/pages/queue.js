// What somebody should look at: unanswered and badly rated questions, by the branch in which the walk ended.

import { filters, inAddress, intoAddress } from "../address.js";
import { base, get, query } from "../api.js";
import { at, h, put } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { paged } from "../more.js";
import { entryCard } from "../queue_entry.js";
import { failure, page } from "../shell.js";
import { count, t } from "../text.js";

const STATES = ["open", "to_do", "mend_branch", "made_a_test", "fine"];
const REASONS = ["not_found", "fetch_limit", "not_helpful", "doubtful"];

page(async () => {
  if (!may("records")) return notAllowed("records");
  const { data: corpora } = await get("/corpora?limit=200");
  const list = h("div", { class: "stack" });
  const form = filters([
    { name: "corpus", label: t("corpus"), choices: [["", t("filters.any")], ...corpora.map(({ corpus, title }) => [corpus, title || corpus])] },
    { name: "reason", label: t("queue.reason"), choices: [["", t("queue.usual")], ...REASONS.map((name) => [name, t(`queue.reason.${name}`)])] },
  ], () => show(list, form));
  put(at("title-actions"), h("a", { class: "button", href: `${base}/records` }, t("title.records")));
  const states = tabs(() => show(list, form));
  await show(list, form);
  return h("div", { class: "stack" }, states, form, list);
});

const stateNow = () => (STATES.includes(inAddress(["state"]).state) ? inAddress(["state"]).state : "open");

/** The states as tabs; they are kept in the address as the filters are. */
function tabs(changed) {
  const buttons = STATES.map((state) => h("button", { class: "chip", "aria-pressed": String(state === stateNow()), onclick: () => {
    intoAddress({ state: state === "open" ? "" : state });
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.state === state));
    changed();
  }, "data-state": state }, t(`queue.state.${state}`)));
  return h("div", { class: "chips", role: "group", "aria-label": t("queue.states") }, buttons);
}

async function show(place, form) {
  const which = { ...form.values(), state: stateNow() };
  try {
    const { data: branches } = await get(`/queue/branches${query({ ...which, limit: 200 })}`);
    put(place, branches.length ? branches.map((branch, i) => group(branch, which, i === 0)) : empty(which));
  } catch (error) {
    put(place, failure(error, () => show(place, form)));
  }
}

const empty = ({ state, corpus, reason }) =>
  h("div", { class: "empty" }, h("h2", {}, t(state === "open" && !corpus && !reason ? "queue.empty" : "queue.empty_so")),
    state === "open" && h("p", {}, t("queue.empty_how")));

/** One branch; what is in it is fetched when it opens. */
function group(branch, which, isFirst) {
  const inner = h("div", { class: "stack" });
  const number = h("span", { class: "badge" }, t("queue.entries", { n: count(branch.entries) }));
  let left = branch.entries;
  const settled = () => {
    left -= 1;
    number.textContent = t("queue.entries", { n: count(left) });
  };
  const path = `/queue${query({ ...which, corpus: branch.corpus, branch: branch.branch, limit: 20 })}`;
  const fill = async () => {
    if (!inner.children.length) put(inner, await paged(path, (entries) => entries.map((entry) => entryCard(entry, settled))));
  };
  const made = h("details", { class: "card", ontoggle: () => made.open && fill() },
    h("summary", {}, h("h2", { class: "grow" }, branch.title || branch.branch), h("span", { class: "quiet" }, branch.corpus), number), inner);
  made.open = isFirst;
  return made;
}
