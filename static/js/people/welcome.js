// Proposes the business's time zone and country from the browser. What was chosen before stays.
import { country, countryOfZone } from "./country.js";
import { nameCountries } from "./country_names.js";

const form = document.getElementById("welcome");
const { timezone, region } = form.elements;

/** Chooses an option, unless there is none with this value. */
function propose(select, value) {
  if (!select.value && value) select.value = [...select.options].some((option) => option.value === value) ? value : "";
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
propose(timezone, zone === "Etc/UTC" ? "UTC" : zone);
const countries = [...region.options].map((option) => option.value).filter(Boolean);
propose(region, countryOfZone(zone, countries) || country(navigator.languages));

nameCountries(region);

// A second click would create a second business.
form.addEventListener("submit", () => {
  const button = form.querySelector("[data-busy]");
  button.disabled = true;
  button.textContent = button.dataset.busy;
});
// Reload after navigating back, to reset the form.
addEventListener("pageshow", (event) => event.persisted && location.reload());
