// What else is kept of a record: ids, model, version, and whether the chain of records is whole.

import { base, get, query, remove } from "./api.js";
import { h, put } from "./dom.js";
import { may } from "./form.js";
import { ask, failure, waiting } from "./shell.js";
import { count, money, span, t, when } from "./text.js";

export function about(record) {
  const chain = h("section", { class: "card", "aria-labelledby": "chain" }, h("h2", { id: "chain" }, t("record.chain")), waiting());
  verify(chain);
  return h("div", { class: "stack" }, chain, h("dl", { class: "facts card" }, facts(record).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    may("admin") && h("div", { class: "no-print" }, h("button", { class: "danger", onclick: () => erase(record) }, t("record.delete"))));
}

async function verify(place) {
  const title = place.firstChild;
  try {
    const { is_sound: isSound, records, head, faults } = await get("/records/verify");
    put(place, title, h("p", {}, h("span", { class: `badge ${isSound ? "good" : "bad"}` }, t(isSound ? "record.sound" : "record.broken")), " ", t("record.checked", { n: count(records) })),
      faults.length > 0 && h("ul", {}, faults.map((fault) => h("li", {}, h("span", { class: "mono" }, fault.run_id), " ", fault.message))),
      h("small", { class: "quiet" }, t("record.head"), " ", h("span", { class: "mono" }, head)));
  } catch (error) {
    put(place, title, failure(error));
  }
}

function facts(record) {
  const mono = (text) => h("span", { class: "mono" }, text);
  const { usage } = record;
  return [
    [t("record.id"), mono(record.run_id)],
    [t("records.session"), h("a", { class: "mono", href: `${base}/records${query({ session_id: record.session_id })}` }, record.session_id)],
    [t("record.turn"), count(record.turn)],
    [t("records.outcome"), t(`outcome.${record.outcome}`)],
    [t("records.channel"), `${t(`channel.${record.channel}`)} · ${t(`door.${record.door}`)}`],
    [t("records.end_user"), record.end_user],
    [t("record.version"), `${record.corpus} v${record.version}`],
    [t("record.model"), mono(record.model)],
    [t("record.prompt"), mono(record.prompt_version)],
    [t("record.began"), when(record.started_at)],
    [t("record.ended"), when(record.ended_at)],
    [t("records.time"), span(record.total_ms)],
    [t("record.rounds"), count(record.rounds)],
    [t("record.tokens"), t("record.tokens_of", { input: count(usage.input_tokens), output: count(usage.output_tokens), cached: count(usage.cached_tokens) })],
    [t("record.money"), money(record.usd)],
    [t("record.retries"), record.retries && count(record.retries)],
    [t("record.left_out"), record.left_out_turns && count(record.left_out_turns)],
    [t("record.struck"), record.struck_citations && count(record.struck_citations)],
    [t("record.heard_text"), record.heard],
    [t("record.error"), record.error_code && [mono(record.error_code), " ", record.error_detail]],
  ].filter(([, value]) => value);
}

async function erase(record) {
  const path = (more) => `/records${query({ run_id: record.run_id, ...more })}`;
  const isDone = await ask({ title: t("record.delete"), body: h("p", {}, t("record.delete_how")), yes: t("talk.delete_yes"), isDanger: true, work: () => remove(path({})) });
  if (isDone) location.assign(`${base}/records`);
}
