// Sentences, numbers and times in the reader's language, from the same keys as everything else of the product.

export const language = document.documentElement.lang === "ja" ? "ja" : "en";
export const zone = document.documentElement.dataset.zone || "Asia/Tokyo";
const { default: sentences } = await import(`./messages.${language}.js`);

/** The sentence of `key` (below `ui.`) with its `{places}` filled. A key that is missing shows itself. */
export function t(key, values = {}) {
  const sentence = sentences[key] ?? key;
  return sentence.replace(/\{(\w+)\}/g, (place, name) => (name in values ? String(values[name]) : place));
}

const integer = new Intl.NumberFormat(language);
const dollars = new Intl.NumberFormat(language, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" });
const cents = new Intl.NumberFormat(language, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", maximumFractionDigits: 4 });
const clock = new Intl.DateTimeFormat(language, { timeZone: zone, dateStyle: "medium", timeStyle: "short" });
const ages = new Intl.RelativeTimeFormat(language, { numeric: "auto" });

export const count = (number) => integer.format(number);
/** US dollars; null is a price that nobody knows, which is never shown as nothing. */
export const money = (usd) =>
  usd === null || usd === undefined ? t("money.unknown") : (usd !== 0 && Math.abs(usd) < 1 ? cents : dollars).format(usd);
export const when = (moment) => (moment ? clock.format(new Date(moment)) : "—");

/** How long ago, in the largest unit that fits. */
export function ago(moment) {
  const seconds = (new Date(moment) - Date.now()) / 1000;
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]])
    if (Math.abs(seconds) >= size) return ages.format(Math.round(seconds / size), unit);
  return ages.format(Math.round(seconds), "second");
}

const clockTime = new Intl.DateTimeFormat(language, { timeZone: zone, timeStyle: "medium" });
/** The time of the day, to the second. */
export const timeOf = (moment) => clockTime.format(new Date(moment));

/** When the day began in the workspace's zone. */
export function midnight(now = new Date()) {
  const [hours, minutes, seconds] = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, timeStyle: "medium" }).format(now).split(":").map(Number);
  return new Date(now - ((hours * 60 + minutes) * 60 + seconds) * 1000 - now.getMilliseconds());
}

/** Milliseconds as people say them. */
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return t("span.seconds", { n: seconds.toFixed(1) });
  return t("span.minutes", { m: Math.floor(seconds / 60), s: Math.round(seconds % 60) });
}

export function bytes(size) {
  for (const [unit, worth] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]])
    if (size >= worth) return `${(size / worth).toFixed(size < 10 * worth ? 1 : 0)} ${unit}`;
  return `${size} B`;
}
