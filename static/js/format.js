// Formatting of numbers, durations and times: a space before the unit, precision by size.
import { now } from "./clock.js";
import { fill, gettext, language, ngettext } from "./i18n.js";

const whole = new Intl.NumberFormat(language);
// Times are in the business's zone, as on server-rendered pages.
const timeZone = zoneOf(document.documentElement.dataset.zone);
const moments = (options) => new Intl.DateTimeFormat(language, { ...options, timeZone });
const clock = moments({ hour: "2-digit", minute: "2-digit" });
const exact = moments({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const days = moments({ weekday: "long", day: "numeric", month: "long" });
const full = moments({ dateStyle: "medium", timeStyle: "medium" });
const weekday = moments({ weekday: "long" });
const shortWeekday = moments({ weekday: "short" });
const date = moments({ day: "numeric", month: "short", year: "numeric" });
const [MINUTE_MS, HOUR_MS, DAY_MS, WEEK_MS] = [60_000, 3_600_000, 86_400_000, 604_800_000];

export const count = (value) => whole.format(value);
// Creating a formatter costs more than a hundred uses of one.
const fractions = [0, 1, 2, 3].map(
  (places) => new Intl.NumberFormat(language, { minimumFractionDigits: places, maximumFractionDigits: places }),
);
const decimals = (value, places) => fractions[places].format(value);
export const time = (iso) => clock.format(new Date(iso));
export const seconds = (iso) => exact.format(new Date(iso));
/** A message with its `%(number)s`: numbered(ngettext("%(number)s reply", "%(number)s replies", 2), 2). */
export const numbered = (message, value) => fill(message, { number: count(value) });

// Days begin with a quarter of an hour, in every zone. A transcript asks for the day of each message whenever it is drawn.
const QUARTER_MS = 900_000;
const named = new Map();
function inDays(ms) {
  const quarter = Math.floor(ms / QUARTER_MS);
  if (!named.has(quarter)) named.set(quarter, days.format(quarter * QUARTER_MS));
  return named.get(quarter);
}

/** "Today", "Yesterday", or "Monday 23 November". */
export function day(iso) {
  const words = inDays(new Date(iso));
  if (words === inDays(now())) return gettext("Today");
  return words === inDays(now() - DAY_MS) ? gettext("Yesterday") : words;
}
export const moment = (iso) => full.format(new Date(iso));

/** A past or future time, as server-rendered pages show it: "5 min ago", "in 3 h", then the weekday, then the date. */
export function ago(iso) {
  const at = new Date(iso);
  const age = now() - at;
  const size = Math.abs(age);
  if (size < MINUTE_MS) return gettext("just now");
  if (size < DAY_MS) return fill(age > 0 ? gettext("%(time)s ago") : gettext("in %(time)s"), { time: amount(size) });
  if (age < 0 && size <= WEEK_MS) {
    const days = Math.floor(size / DAY_MS);
    return fill(ngettext("in %(days)s day", "in %(days)s days", days), { days });
  }
  return (age > 0 && size < WEEK_MS ? weekday : date).format(at);
}

const amount = (ms) =>
  ms < HOUR_MS
    ? fill(gettext("%(number)s min"), { number: Math.floor(ms / MINUTE_MS) })
    : fill(gettext("%(number)s h"), { number: Math.floor(ms / HOUR_MS) });
const inMilliseconds = (ms) => fill(gettext("%(number)s ms"), { number: Math.max(0, Math.round(ms)) });
const inSeconds = (ms, places) => fill(gettext("%(number)s s"), { number: decimals(ms / 1000, places) });

/** The time of a message in a transcript: the clock within a day, then with the weekday, then with the date. */
export function said(iso) {
  const age = now() - new Date(iso);
  if (age < DAY_MS) return time(iso);
  return `${(age < WEEK_MS ? shortWeekday : date).format(new Date(iso))}, ${time(iso)}`;
}

/** Milliseconds as "312 ms", "1.18 s", "12.4 s" or "2 min 5 s". */
export function duration(ms) {
  if (ms < 999.5) return inMilliseconds(ms);
  if (ms < 9995) return inSeconds(ms, 2);
  if (ms < 59950) return inSeconds(ms, 1);
  const total = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(total / 60), total % 60];
  return rest
    ? fill(gettext("%(minutes)s min %(seconds)s s"), { minutes, seconds: rest })
    : fill(gettext("%(number)s min"), { number: minutes });
}

/** A duration on the time axis, in seconds where meaningful: "46 ms", "0.67 s", "12.4 s". */
export const length = (ms) => (ms >= 99.5 && ms < 9995 ? inSeconds(ms, 2) : duration(ms));

/** The short form for headlines: "46 ms", "0.9 s", "2 min 5 s". */
export const roughly = (ms) => (ms >= 99.5 && ms < 59950 ? inSeconds(ms, 1) : duration(ms));

/** US dollars, small amounts to fractions of a cent, as on server-rendered pages. */
export function money(value) {
  const amount = Number(value);
  const places = amount === 0 || amount >= 0.1 ? 2 : 4;
  const inDollars = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" };
  return new Intl.NumberFormat(language, { ...inDollars, minimumFractionDigits: places, maximumFractionDigits: places }).format(amount);
}

/** The moment, in UTC, of a day and time like 2026-12-24T18:30 in the business's zone. */
export function momentOf(local) {
  const iso = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone });
  const offset = (moment) => new Date(`${iso.format(moment).replace(" ", "T")}Z`) - moment;
  const asUtc = new Date(`${local}Z`);
  // Asked twice, because the clocks may change between the two.
  return new Date(asUtc - offset(asUtc - offset(asUtc))).toISOString();
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

const titles = JSON.parse(document.getElementById("tool-titles")?.textContent ?? "{}");
/** The title of a tool. A custom tool's is made from its name. */
export const toolTitle = (name) => titles[name] ?? words(name.replace(/_tool$/, ""));

const FIELDS = {
  name: gettext("Name"),
  phone: gettext("Phone"),
  email: gettext("E-mail"),
  language: gettext("Language"),
  sms_opt_in: gettext("Texts"),
  email_opt_in: gettext("E-mails"),
  call_opt_in: gettext("Calls"),
  recording_opt_in: gettext("Recordings"),
  date: gettext("Date"),
  time: gettext("Time"),
  party_size: gettext("Party size"),
  notes: gettext("Notes"),
};

/** The name of a customer's field for people. Fields of the business's own are named after their keys. */
export const fieldLabel = (key) => FIELDS[key] ?? words(key.replaceAll(".", " "));

const languages = new Intl.DisplayNames([language], { type: "language" });

/** The name of a language such as `de` or `pt_BR`; a text that is no code stays as it is. */
export function languageName(code) {
  try {
    return languages.of(code.replaceAll("_", "-"));
  } catch {
    return code;
  }
}

/** A customer's field with its value, as people read them. */
export const fieldWords = (key, value) => `${fieldLabel(key)}: ${key === "language" ? languageName(value) : value}`;
