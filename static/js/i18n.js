// Translations into the page's language, from Django's JavaScript catalog. A page without the catalog is in English.
const english = {
  gettext: (message) => message,
  ngettext: (one, many, number) => (number === 1 ? one : many),
  pgettext: (context, message) => message,
  interpolate: (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => String(values[name])),
};
// Pages of Django's admin have a `django` of their own.
const catalog = window.django?.interpolate ? window.django : english;

export const { gettext, ngettext, pgettext } = catalog;

/** The message with its placeholders filled: fill("%(name)s joined.", { name }). */
export const fill = (message, values) => catalog.interpolate(message, values, true);

/** The language of dates and numbers. English dates put the day first, as server-rendered pages do. */
export const language = ((code) => (!code || code === "en" ? "en-GB" : code))(document.documentElement.lang);
