/** The country that the first language with one names, such as IT of `it-IT`; empty when none does. */
export function country(languages) {
  return languages.map((language) => new Intl.Locale(language).region).find(Boolean) ?? "";
}
