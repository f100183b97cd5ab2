// Autocomplete for comma-separated names.
export function suggestNames(form) {
  form.addEventListener("input", ({ target }) => refill(target));
  form.addEventListener("focusin", ({ target }) => refill(target));
}

function refill(input) {
  const list = input.dataset?.suggest && document.getElementById(input.dataset.suggest);
  if (!list) return;
  list.names ??= [...list.options].map((option) => option.value);
  const before = input.value.split(",").slice(0, -1).map((name) => name.trim());
  const prefix = before.length ? `${before.join(", ")}, ` : "";
  const left = list.names.filter((name) => !before.includes(name));
  list.replaceChildren(...left.map((name) => new Option("", prefix + name)));
}
