/** The country of a time zone, such as IT of `Europe/Rome`, if the browser knows; one of `countries`, or empty. */
export function countryOfZone(zone, countries) {
  const zonesOf = (region) => {
    const locale = new Intl.Locale("und", { region });
    return locale.getTimeZones?.() ?? locale.timeZones ?? [];
  };
  return countries.find((region) => zonesOf(region).includes(zone)) ?? "";
}

/** The region of the first language that has one, such as IT of `it-IT`; empty if none has. */
export function country(languages) {
  return languages.map((language) => new Intl.Locale(language).region).find(Boolean) ?? "";
}
