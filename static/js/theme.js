// Loaded in the head, not deferred, to set the theme before the first paint without an inline script.
(() => {
  const KEY = "mg-theme";
  const SURFACE = { light: "#fffefc", dark: "#1a1917" };
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // If storage is blocked, the choice lasts until the page is left.
  }

  function apply() {
    const theme = chosen ?? (system.matches ? "dark" : "light");
    root.dataset.bsTheme = theme;
    name(theme);
    for (const bar of document.querySelectorAll("meta[name=theme-color]")) bar.content = SURFACE[theme];
  }

  // The theme that the button switches to. Its icon follows by CSS.
  function name(theme) {
    for (const label of document.querySelectorAll("[data-theme-name]")) {
      label.dataset.dark ??= label.textContent;
      label.textContent = theme === "dark" ? label.dataset.light : label.dataset.dark;
    }
  }

  function toggle() {
    chosen = root.dataset.bsTheme === "dark" ? "light" : "dark";
    apply();
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // As above.
    }
  }

  apply();
  system.addEventListener("change", apply);
  // The buttons weren't there yet. Setting the theme again would style the whole page again.
  document.addEventListener("DOMContentLoaded", () => name(root.dataset.bsTheme));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) toggle();
  });
})();
