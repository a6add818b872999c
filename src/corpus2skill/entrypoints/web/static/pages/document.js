// One document: what was found in it, and its text with the borders of the chunks drawn.

import { base, get, post, query, remove } from "../api.js";
import { apiOf, corpusTabs, pathOf } from "../corpus_tabs.js";
import { at, h, put } from "../dom.js";
import { liveOf, sizeOf, stateBadge } from "../document_words.js";
import { field, may, tick } from "../form.js";
import { ask, busy, failure, note, page, waiting } from "../shell.js";
import { bytes, count, t, when } from "../text.js";

const path = `${apiOf}/documents/${encodeURIComponent(at("page").dataset.document)}`;
const LOOKED_INTO = ["accepted", "refused", "duplicate"];

const show = () => page(async () => {
  const [, document] = await Promise.all([corpusTabs("documents"), get(path)]);
  put(at("title"), document.name);
  put(at("title-actions"), actions(document));
  if (["received", "purging"].includes(document.state)) setTimeout(settled, 1000, document.state);
  return [facts(document), why(document), members(document), preview(document)];
});

/** What is being looked into, or is going, is shown anew when that is done. */
async function settled(state) {
  const now = await get(path).catch(() => null);
  if (now?.state === state) setTimeout(settled, 1000, state);
  else if (now) await show();
}

function actions(document) {
  const isThere = !["removed", "purging", "purged"].includes(document.state);
  const again = h("button", { onclick: () => busy(again, async () => { await post(`${path}/inspect`); await show(); }) }, t("document.inspect"));
  return [
    isThere && document.sha256 && h("a", { class: "button", href: `${base}/v1${path}/content`, download: "" }, t("document.download")),
    may("write") && LOOKED_INTO.includes(document.state) && document.sha256 && again,
    may("write") && isThere && h("button", { class: "danger", onclick: () => takeOut(document) }, t("document.remove")),
  ];
}

const facts = (document) =>
  h("section", { class: "card" }, h("dl", { class: "facts" }, [
    [t("document.found"), stateBadge(document)],
    [t("document.in_version"), liveOf(document)],
    [t("document.size"), `${sizeOf(document)} · ${bytes(document.bytes)}`],
    [t("document.chunks"), count(document.chunks)],
    [t("document.received"), when(document.received_at)],
    document.revision > 1 && [t("document.revision"), t("document.revision_n", { n: count(document.revision) })],
  ].filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));

function why(document) {
  if (document.state === "received") return h("p", { class: "notice" }, t("document.looking"));
  if (document.state === "purging") return h("p", { class: "notice lit" }, t("document.purging_how"));
  const notices = document.notices.map((sentence) => h("p", { class: "notice lit" }, sentence));
  if (!document.reason) return notices;
  const next = document.state === "refused" && h("p", {}, h("a", { href: `${pathOf}/documents` }, t("document.send_again")));
  return [h("div", { class: `notice ${document.state === "refused" ? "bad" : ""}` }, h("p", {}, document.reason), next), notices];
}

function members(document) {
  if (!document.members.length) return null;
  return h("details", { class: "card", open: document.members.length <= 10 }, h("summary", {}, t("document.members", { n: count(document.members.length) })),
    h("ul", { class: "lines" }, document.members.map((member) => h("li", {}, h("div", { class: "line" }, h("span", { class: "grow" }, member.name, member.reason && h("small", {}, ` ${member.reason}`)),
      h("small", {}, `${t(`verdict.${member.verdict}`)}・${t("document.characters", { n: count(member.characters) })}`))))));
}

/** The text as it was extracted: an empty or garbled one is seen before money is spent. */
function preview(document) {
  const usable = document.members.filter(({ verdict }) => verdict === "accepted");
  const own = document.verdict === "accepted";
  if (!own && !usable.length) return null;
  const text = h("div", { class: "stack" });
  const load = (member) => fill(text, member).catch((error) => put(text, failure(error, () => load(member))));
  load(own ? null : usable[0].name);
  const choice = usable.length > 0 && field({ label: t("document.member"), choices: [...(own ? [["", document.name]] : []), ...usable.map((member) => [member.name, member.name])] });
  if (choice) choice.addEventListener("change", (event) => load(event.target.value || null));
  return h("section", { class: "card", "aria-labelledby": "preview" }, h("h2", { id: "preview" }, t("document.preview")), h("p", { class: "quiet" }, t("document.preview_how")), choice, text);
}

async function fill(place, member) {
  put(place, waiting());
  const first = await get(`${path}/preview${query({ member })}`);
  const parts = h("div", { class: "original" }, first.data.map(part));
  const more = h("button", { onclick: () => busy(more, async () => {
    const next = await get(`${path}/preview${query({ member, cursor })}`);
    parts.append(...next.data.map(part));
    cursor = next.next_cursor;
    if (!cursor) more.remove();
  }) }, t("more"));
  let cursor = first.next_cursor;
  put(place, h("p", { class: "quiet" }, t("document.cut", { chunks: count(first.chunk_count), characters: count(first.characters) })), parts, cursor && h("div", {}, more));
}

const part = (chunk) =>
  h("section", { class: "part", "aria-label": t("document.chunk", { n: count(chunk.number + 1) }) },
    h("p", { class: "border" }, t("document.chunk", { n: count(chunk.number + 1) }), " · ", chunk.place || chunk.headings.join(" › "), " · ", t("document.characters", { n: count(chunk.end - chunk.start) })),
    h("div", {}, chunk.text));

async function takeOut(document) {
  const choice = may("admin") && h("div", {},
    tick({ type: "radio", name: "how", value: "remove", checked: true, label: t("document.remove_next"), hint: t("document.remove_how") }),
    tick({ type: "radio", name: "how", value: "purge", label: t("document.purge"), hint: t("document.purge_how") }));
  let isPurge = false;
  const isDone = await ask({
    title: t("document.remove_title", { name: document.name }), isDanger: true, yes: t("document.remove_yes"),
    body: [choice || h("p", {}, t("document.remove_how"))],
    work: async (form) => {
      isPurge = form.get("how") === "purge";
      await remove(`${path}${query({ purge: isPurge || null })}`);
    },
  });
  if (!isDone) return;
  note(t(isPurge ? "document.purge_begun" : "document.removed"));
  await show();
}

show();
