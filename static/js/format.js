// Formatting of numbers, durations and times: a space before the unit, precision by size.
import { now } from "./clock.js";

const whole = new Intl.NumberFormat("en");
// Times are in the business's zone, as on server-rendered pages.
const timeZone = zoneOf(document.documentElement.dataset.zone);
const moments = (options) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone });
const clock = moments({ hour: "2-digit", minute: "2-digit" });
const exact = moments({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const days = moments({ weekday: "long", day: "numeric", month: "long" });
const full = moments({ dateStyle: "medium", timeStyle: "medium" });
const weekday = moments({ weekday: "long" });
const shortWeekday = moments({ weekday: "short" });
const date = moments({ day: "numeric", month: "short", year: "numeric" });
const [MINUTE_MS, HOUR_MS, DAY_MS, WEEK_MS] = [60_000, 3_600_000, 86_400_000, 604_800_000];

export const count = (value) => whole.format(value);
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const time = (iso) => clock.format(new Date(iso));
export const seconds = (iso) => exact.format(new Date(iso));
/** "Today", "Yesterday", or "Monday 23 November". */
export function day(iso) {
  const words = days.format(new Date(iso));
  if (words === days.format(now())) return "Today";
  return words === days.format(now() - DAY_MS) ? "Yesterday" : words;
}
export const moment = (iso) => full.format(new Date(iso));

/** A past or future time, as server-rendered pages show it: "5 min ago", "in 3 h", then the weekday, then the date. */
export function ago(iso) {
  const at = new Date(iso);
  const age = now() - at;
  const size = Math.abs(age);
  if (size < MINUTE_MS) return "just now";
  if (size < DAY_MS) return age > 0 ? `${amount(size)} ago` : `in ${amount(size)}`;
  if (age < 0 && size <= WEEK_MS) return size < 2 * DAY_MS ? "in 1 day" : `in ${Math.floor(size / DAY_MS)} days`;
  return (age > 0 && size < WEEK_MS ? weekday : date).format(at);
}

const amount = (ms) => (ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / HOUR_MS)} h`);

/** The time of a message in a transcript: the clock within a day, then with the weekday, then with the date. */
export function said(iso) {
  const age = now() - new Date(iso);
  if (age < DAY_MS) return time(iso);
  return `${(age < WEEK_MS ? shortWeekday : date).format(new Date(iso))}, ${time(iso)}`;
}

/** Milliseconds as "312 ms", "1.18 s", "12.4 s" or "2 min 5 s". */
export function duration(ms) {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const total = Math.round(ms / 1000);
  return total % 60 ? `${Math.floor(total / 60)} min ${total % 60} s` : `${total / 60} min`;
}

/** A duration on the time axis, in seconds where meaningful: "46 ms", "0.67 s", "12.4 s". */
export const length = (ms) => (ms >= 99.5 && ms < 9995 ? `${(ms / 1000).toFixed(2)} s` : duration(ms));

/** The short form for headlines: "46 ms", "0.9 s", "2 min 5 s". */
export const roughly = (ms) => (ms >= 99.5 && ms < 59950 ? `${(ms / 1000).toFixed(1)} s` : duration(ms));

/** US dollars, precise to fractions of a cent. */
export function money(value) {
  const amount = Number(value);
  return `$${amount.toFixed(amount === 0 || amount >= 1 ? 2 : 4)}`;
}

/** The zone's name; undefined (the reader's own zone) if this browser doesn't know it. */
function zoneOf(name) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export const between = (from, to) => new Date(to) - new Date(from);

/** "check_availability" → "Check availability" */
export const words = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
