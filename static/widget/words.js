// The widget's own sentences. The agent answers in any language; these follow the page's, or what the business chose.
// `catalog` has an array for each language, in which a sentence stands where it stands in that of `en`.
const RIGHT_TO_LEFT = new Set(["ar", "he"]);

/** What the business chose, else the page's language, else the browser's, as far as there are words for it. */
export function chosenLanguage(catalog, chosen) {
  const wanted = [chosen, document.documentElement.lang, ...(navigator.languages ?? [])];
  return wanted.map((tag) => (tag ?? "").toLowerCase().split("-")[0]).find((tag) => Object.hasOwn(catalog, tag)) ?? "en";
}

export const directionOf = (language) => (RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr");

/** Names a sentence of the catalogue that is said elsewhere. */
export const phrase = (text) => text;

/** `say("Chat with %(name)s")` in a language; `known` are the values that every sentence may use. */
export const sayIn = (catalog, language, known) => (text, values) =>
  (catalog[language][catalog.en.indexOf(text)] ?? text).replace(/%\((\w+)\)s/g, (gap, name) => ({ ...known, ...values })[name] ?? gap);
