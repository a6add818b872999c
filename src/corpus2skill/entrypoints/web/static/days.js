// Days as the workspace's zone has them: "the 30th" begins at another moment in Tokyo than in London.

import { zone } from "./text.js";

/** The moment (RFC 3339, UTC) at which a day like 2026-11-30 begins, or the day that many days later. */
export function beginOf(day, daysLater = 0) {
  const [year, month, date] = day.split("-").map(Number);
  const asIfUtc = Date.UTC(year, month - 1, date + daysLater);
  // Twice, for days on which clocks change.
  const near = asIfUtc - offset(asIfUtc);
  return new Date(asIfUtc - offset(near)).toISOString();
}

/** Milliseconds that clocks in the zone are ahead of UTC at that moment. */
function offset(moment) {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric",
    day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" }).formatToParts(moment);
  const at = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(at.year, at.month - 1, at.day, at.hour, at.minute, at.second) - moment;
}
