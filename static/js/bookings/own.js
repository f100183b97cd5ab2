// Changing the party size submits it; the button is for browsers without JavaScript.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
// Scroll the chosen day into view on narrow screens.
document.querySelector(".ob-days [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
