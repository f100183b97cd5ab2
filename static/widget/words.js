// The widget's own sentences, in the language of the page or the one the business chose; the agent answers in any language.
// `catalog` has an array per language, with each sentence at the index of its English text in `en`.
const RIGHT_TO_LEFT = new Set(["ar", "he"]);

/** The first of these with a catalog: the business's choice, the page's language, the browser's languages; else English. */
export function chosenLanguage(catalog, chosen) {
  const wanted = [chosen, document.documentElement.lang, ...(navigator.languages ?? [])];
  return wanted.map((tag) => (tag ?? "").toLowerCase().split("-")[0]).find((tag) => Object.hasOwn(catalog, tag)) ?? "en";
}

export const directionOf = (language) => (RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr");

/** Marks a sentence for the catalog that is said elsewhere. */
export const phrase = (text) => text;

/** Returns `say("Chat with %(name)s")` for a language; `known` are values every sentence may use. */
export const sayIn = (catalog, language, known) => (text, values) =>
  (catalog[language][catalog.en.indexOf(text)] ?? text).replace(/%\((\w+)\)s/g, (gap, name) => ({ ...known, ...values })[name] ?? gap);
