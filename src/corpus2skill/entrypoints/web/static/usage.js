// What was used: this month beside its cap, and sums by day, model, purpose or corpus.

import { get, query } from "./api.js";
import { h, put } from "./dom.js";
import { failure, waiting } from "./shell.js";
import { table } from "./table.js";
import { count, language, money, t } from "./text.js";

const KEYS = ["day", "model", "purpose", "corpus"];
const monthName = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" });
const PURPOSES = ["describe", "group", "place", "summarize", "navigate", "trial"];

/** The month's money with a bar where there is a cap. Calls of unknown price are said, never left out. */
export function month({ month: found }) {
  const share = found.cap === null ? null : found.dollars / found.cap;
  return h(
    "section",
    { class: "card", "aria-labelledby": "month" },
    h("h2", { id: "month" }, t("usage.month", { month: monthName.format(new Date(`${found.month}-01T00:00Z`)) })),
    h("p", { class: "fact" }, money(found.dollars), found.cap !== null && h("small", {}, ` / ${money(found.cap)}`)),
    share !== null && h("progress", { max: 1, value: Math.min(1, share), "aria-label": t("usage.share") }),
    h("p", { class: share >= 1 ? "fault" : "quiet" }, share === null ? t("usage.no_cap") : share >= 1 ? t("usage.cap_reached") : t("usage.share_used", { percent: Math.floor(share * 100) })),
    found.unpriced_calls > 0 && h("p", { class: "quiet" }, t("usage.unpriced", { n: count(found.unpriced_calls) })),
  );
}

/** The table, by what the reader chooses; the choice is kept in the address. */
export function sums() {
  const place = h("div", { class: "stack" });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("usage.by") });
  const choose = async (by) => {
    put(chips, KEYS.map((key) => h("button", { class: "chip", "aria-pressed": String(key === by), onclick: () => { remember(key); choose(key).then(() => chips.querySelector("[aria-pressed=true]").focus()); } }, t(`usage.by.${key}`))));
    put(place, waiting());
    try {
      put(place, shown(await get(`/usage${query({ by })}`)));
    } catch (error) {
      put(place, failure(error, () => choose(by)));
    }
  };
  const asked = new URLSearchParams(location.search).get("by");
  choose(KEYS.includes(asked) ? asked : "day");
  return h("section", { class: "stack section", "aria-labelledby": "usage" }, h("h2", { id: "usage" }, t("usage.title")), chips, place);
}

const remember = (by) => history.replaceState(null, "", query({ by }));

function shown(report) {
  if (!report.data.length) return h("div", { class: "empty" }, h("p", {}, t("usage.none")));
  const columns = [t(`usage.by.${report.by}`), [t("usage.calls"), "num"], [t("usage.input"), "num"], [t("usage.output"), "num"], [t("usage.dollars"), "num"]];
  const rows = report.data.map((line) => [named(report.by, line.key), ...figures(line)]);
  if (rows.length > 1) rows.push([t("usage.total"), ...figures(report.total)]);
  return table(t("usage.between", { since: report.since, until: report.until }), columns, rows);
}

const figures = (line) => [count(line.calls), count(line.input_tokens), count(line.output_tokens), dollars(line)];

const dollars = (line) =>
  line.unpriced_calls && !line.dollars ? t("money.unknown") : [money(line.dollars), line.unpriced_calls > 0 && h("small", { class: "block" }, t("usage.and_unpriced", { n: count(line.unpriced_calls) }))];

const named = (by, key) =>
  by === "purpose" && PURPOSES.includes(key) ? t(`purpose_of.${key}`) : key || t("usage.no_corpus");
