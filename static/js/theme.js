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
    root.dataset.bsTheme = chosen ?? (system.matches ? "dark" : "light");
    for (const name of document.querySelectorAll("[data-theme-name]")) {
      name.dataset.dark ??= name.textContent;
      name.textContent = root.dataset.bsTheme === "dark" ? name.dataset.light : name.dataset.dark;
    }
    for (const bar of document.querySelectorAll("meta[name=theme-color]")) bar.content = SURFACE[root.dataset.bsTheme];
    // The icon of the theme that the button switches to.
    for (const sign of document.querySelectorAll("[data-theme-toggle] use"))
      sign.setAttribute("href", sign.getAttribute("href").replace(/#(moon|sun)$/, root.dataset.bsTheme === "dark" ? "#sun" : "#moon"));
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
  document.addEventListener("DOMContentLoaded", apply);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) toggle();
  });
})();
