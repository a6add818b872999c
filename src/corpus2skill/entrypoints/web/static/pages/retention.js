// How long what is kept, what would go next and when, what is held, and everything as files.

import { base, change, get, query } from "../api.js";
import { h, put } from "../dom.js";
import { field, may, notAllowed, typed } from "../form.js";
import { holds } from "../holds.js";
import { ask, busy, note, page } from "../shell.js";
import { count, t, when } from "../text.js";

const CLASSES = ["conversations", "versions", "audit", "events", "deliveries"];
const COUNTED = ["runs", "sessions", "versions", "audit", "events", "deliveries"];

const show = () => page(async () => {
  if (!may("admin")) return notAllowed("admin");
  const [now, next] = await Promise.all([get("/retention"), get("/retention/preview")]);
  return [facts(now, next), policy(now), holds(), files()];
});

function facts(now, next) {
  const lines = [
    [t("retention.next"), now.next_run_at ? when(now.next_run_at) : t("retention.no_run")],
    [t("retention.would_go"), gone(next.would_go)],
    next.held > 0 && [t("retention.held"), t("retention.runs", { n: count(next.held) })],
    now.last_run_at && [t("retention.last"), `${when(now.last_run_at)} (${gone(now.last_run)})`],
  ];
  return h("section", { class: "card", "aria-labelledby": "next" }, h("h2", { id: "next" }, t("retention.next_title")),
    h("dl", { class: "facts" }, lines.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

/** What goes, in words: only what there is of it. */
const gone = (counts) =>
  COUNTED.filter((kind) => counts[kind]).map((kind) => t(`retention.${kind === "runs" ? "runs" : `gone_${kind}`}`, { n: count(counts[kind]) })).join(t("list.separator")) || t("retention.nothing");

function policy(now) {
  const said = h("p", { role: "status", class: "quiet" });
  const form = h(
    "form",
    { class: "card", onsubmit: (event) => { event.preventDefault(); busy(event.submitter, () => save(form)); }, onchange: () => foretell(form, said) },
    h("h2", {}, t("retention.days_title")),
    h("p", { class: "quiet" }, t("retention.days_how")),
    h("div", { class: "fields" }, CLASSES.map((kind) => field({ label: t(`retention.${kind}`), hint: t(`retention.${kind}.how`), name: kind, type: "number", min: 1, max: 36500, inputmode: "numeric", value: now.days[kind] ?? "", placeholder: t("retention.for_ever") }))),
    said,
    h("div", { class: "row" }, h("button", { class: "primary" }, t("save"))),
  );
  return form;
}

const days = (form) => Object.fromEntries(Object.entries(typed(form)).map(([kind, given]) => [kind, given === "" ? null : Number(given)]));

/** What would go under the days that stand in the form; where none does, nothing would. */
async function counted(form) {
  const asked = days(form);
  return Object.values(asked).every((given) => given === null) ? {} : (await get(`/retention/preview${query(asked)}`)).would_go;
}

async function foretell(form, said) {
  if (!form.checkValidity()) return;
  try {
    put(said, t("retention.would_go_then", { what: gone(await counted(form)) }));
  } catch {
    put(said); // it is said again, with its reason, when the form is saved
  }
}

async function save(form) {
  const what = gone(await counted(form));
  const isDone = await ask({
    title: t("retention.confirm"),
    body: h("p", {}, t("retention.confirm_how", { what })),
    yes: t("save"),
    isDanger: true,
    work: () => change("/retention", days(form)),
  });
  if (!isDone) return;
  await show();
  note(t("saved"));
}

function files() {
  const link = (path, words) => h("li", {}, h("a", { class: "button", href: `${base}/v1${path}`, download: true }, words));
  return h(
    "section",
    { class: "card", "aria-labelledby": "files" },
    h("h2", { id: "files" }, t("retention.files")),
    h("p", { class: "quiet" }, t("retention.files_how"), " ", h("a", { href: `${base}/records` }, t("title.records")), t("list.separator"), h("a", { href: `${base}/settings/log` }, t("title.log"))),
    h("ul", { class: "row bare" }, link("/exports?format=csv&bom=true", t("retention.records_csv")), link("/exports?format=jsonl", t("retention.records_jsonl")), link("/audit-events/export?format=csv", t("retention.log_csv"))),
  );
}

show();
