// Fills in the business's time zone and region from the browser.
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

// A second click would create a second business.
form.addEventListener("submit", () => {
  const button = form.querySelector("[data-busy]");
  button.disabled = true;
  button.textContent = button.dataset.busy;
});
// Reload after navigating back, to reset the form.
addEventListener("pageshow", (event) => event.persisted && location.reload());
