// One's own past conversations, to go back to or to delete.

import { base, get, query, remove } from "./api.js";
import { h, put } from "./dom.js";
import { ask, failure } from "./shell.js";
import { ago, t } from "./text.js";

/** Fill `place`; `current` is the conversation that is open. */
export async function pastConversations(place, current) {
  try {
    const { data, next_cursor: next } = await get("/sessions?limit=12");
    show(place, current, data, next);
  } catch (error) {
    put(place, failure(error));
  }
}

function show(place, current, sessions, next) {
  const asked = sessions.filter((session) => session.last_question || session.session_id === current);
  const list = h("ul", { class: "past" }, asked.map((session) => line(session, current)));
  const more = next && h("button", { onclick: async () => {
    const page = await get(`/sessions${query({ limit: 50, cursor: next })}`);
    show(place, current, [...sessions, ...page.data], page.next_cursor);
  } }, t("more"));
  put(place, asked.length ? list : h("p", { class: "quiet" }, t("talk.no_past")), more);
}

function line(session, current) {
  const isCurrent = session.session_id === current;
  const question = session.last_question ?? t("talk.new");
  const item = h("li", {},
    h("a", { href: `${base}/talk${query({ session: session.session_id })}`, "aria-current": isCurrent && "page" },
      h("span", { class: "one-line" }, question), h("small", { class: "quiet" }, ago(session.asked_at ?? session.created_at))),
    h("button", { class: "plain icon", title: t("talk.delete"), "aria-label": t("talk.delete_one", { question }), onclick: () => erase(session, item, isCurrent) }, "×"));
  return item;
}

async function erase(session, item, isCurrent) {
  const isDone = await ask({
    title: t("talk.delete"),
    body: h("p", {}, t("talk.delete_how")),
    yes: t("talk.delete_yes"),
    isDanger: true,
    work: () => remove(`/sessions/${session.session_id}`),
  });
  if (!isDone) return;
  item.remove();
  if (isCurrent) location.assign(`${base}/talk${query({ corpus: session.corpus })}`);
}
