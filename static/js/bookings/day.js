// Selecting a day submits it; the button is for browsers without JavaScript.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
document.querySelector(".bk-days [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
// Focus the form when it was requested or has errors.
document.querySelector(".bk-new [aria-invalid=true], .bk-new [name=party_size]")?.focus();
