// What operators did, in sentences, the newest first. The filter lives in the address.

import { filters } from "../address.js";
import { base, get, query } from "../api.js";
import { at, h, put } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { paged } from "../more.js";
import { page, waiting } from "../shell.js";
import { table } from "../table.js";
import { language, t, when } from "../text.js";

const KINDS = ["corpus.", "document.", "documents.", "job.", "version.", "test_run.", "records.", "provider_credential.", "settings.", "token.", "member.", "invitation.", "sign_in.", "password.", "retention.", "hold.", "webhook."];
const COLUMNS = [t("log.did"), [t("log.who"), "who"], [t("log.when"), "moment"]];
const place = h("div", { class: "stack" });
let turn = 0;

async function build() {
  if (!may("admin")) return notAllowed("admin");
  const { data: members } = await get("/members");
  const asked = new URLSearchParams(location.search);
  const form = filters(
    [
      { label: t("log.what"), name: "action", choices: among(asked.get("action"), [["", t("log.everything")], ...KINDS.map((kind) => [kind, t(`log.kind.${kind.slice(0, -1)}`)])]) },
      { label: t("log.who"), name: "actor", choices: among(asked.get("actor"), [["", t("log.anybody")], ...members.map(({ person_id: id, name }) => [id, name]), ["system", t("log.system")]]) },
      { label: t("log.object"), name: "object", type: "search" },
      { label: t("log.since"), name: "since", type: "date" },
      { label: t("log.until"), name: "until", type: "date" },
    ],
    list,
  );
  list(form.values());
  return [h("p", { class: "quiet" }, t("log.about")), form, place];
}

/** The choices, with what the address asks for where it is none of them: a token, or one action alone. */
const among = (asked, choices) => (!asked || choices.some(([value]) => value === asked) ? choices : [...choices, [asked, asked]]);

async function list(values) {
  const mine = (turn += 1);
  put(place, waiting());
  exports(values);
  const shown = await paged(`/audit-events${query(values)}`, (events) => draw(events, values));
  if (mine === turn) put(place, shown);
}

/** Exactly what the filter lists, as files. */
function exports(values) {
  const link = (format) => `${base}/v1/audit-events/export${query({ ...values, format, language })}`;
  put(at("title-actions"), ["csv", "jsonl"].map((format) => h("a", { class: "button", href: link(format), download: true }, t("export_as", { format: format.toUpperCase() }))));
}

function draw(events, values) {
  if (events.length) return table(t("title.log"), COLUMNS, events.map(row));
  return h("div", { class: "empty" }, h("h2", {}, t(query(values) ? "log.none" : "log.empty")));
}

const row = (event) => [
  event.text,
  event.actor_name ?? (event.actor === "system" ? t("log.system") : h("span", { class: "mono" }, event.actor)),
  h("time", { datetime: event.at }, when(event.at)),
];

page(build);
