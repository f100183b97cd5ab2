// A chosen day is shown at once; the button is there for a page without scripts.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
document.querySelector(".bk-days [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
// A form that was asked for, or sent with something wrong, is where one writes.
document.querySelector(".bk-new [aria-invalid=true], .bk-new [name=party_size]")?.focus();
