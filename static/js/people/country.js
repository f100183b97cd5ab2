/** The region of the first language that has one, such as IT of `it-IT`; empty if none has. */
export function country(languages) {
  return languages.map((language) => new Intl.Locale(language).region).find(Boolean) ?? "";
}
