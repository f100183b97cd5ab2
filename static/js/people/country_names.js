// The countries of a select element, in the reader's language and order. Without the browser's names they stay English.

export function nameCountries(select) {
  const language = document.documentElement.lang;
  if (!select || !window.Intl?.DisplayNames || !language || language.startsWith("en")) return;
  const names = new Intl.DisplayNames([language], { type: "region", fallback: "none" });
  const chosen = select.value;
  const options = [...select.options].filter((option) => /^[A-Z]{2}$/.test(option.value));
  for (const option of options) option.textContent = names.of(option.value) ?? option.textContent;
  options.sort((one, other) => one.textContent.localeCompare(other.textContent, language));
  select.append(...options);
  select.value = chosen;
}
