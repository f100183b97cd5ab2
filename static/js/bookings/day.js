// Selecting a day submits it; the button is for browsers without JavaScript.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
document.querySelector(".bk-days [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
// Focus the form when it was requested or has errors.
// The time is known if a free place on the board was chosen.
const first = [".bk-new [aria-invalid=true]", '.bk-new [name=time][value=""]', ".bk-new [name=party_size]"];
first.map((selector) => document.querySelector(selector)).find(Boolean)?.focus();
