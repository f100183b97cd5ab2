// A choice shows its times at once; the button is there for a page without scripts.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
// The chosen day is in view where the strip of days is longer than the phone is wide.
document.querySelector(".ob-days [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
