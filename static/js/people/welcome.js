// Where the business is, as far as the browser knows: the time zone, and the country of the person's language.
import { country } from "./country.js";

const form = document.getElementById("welcome");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
form.elements.timezone.value = zone ?? "";
form.elements.region.value = country(navigator.languages);

const clock = document.getElementById("clock");
if (zone) {
  clock.querySelector("b").textContent = zone.split("/").pop().replaceAll("_", " ");
  clock.hidden = false;
}

// A second click would make a second business.
form.addEventListener("submit", () => {
  const button = form.querySelector("[data-busy]");
  button.disabled = true;
  button.textContent = button.dataset.busy;
});
// Back from the next page, the form is as it was.
addEventListener("pageshow", (event) => event.persisted && location.reload());
