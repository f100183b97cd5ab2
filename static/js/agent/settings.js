// The settings pages: editable lists, unsaved changes, model test.
import { nameCountries } from "../people/country_names.js";
import { bindDialogs } from "../people/dialogs.js";
import { packWhole, watchChanges } from "./form.js";
import { Lists } from "./lists.js";
import { suggestNames } from "./suggest.js";
import { tryModels } from "./trial.js";

bindDialogs();
nameCountries(document.querySelector("select[name=region]"));

const form = document.querySelector("[data-settings]");
if (form) {
  const changes = watchChanges(form);
  new Lists(form, { onChange: () => changes.note() });
  packWhole(form);
  suggestNames(form);
  tryModels(form);
}
document.querySelector(".ag-nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
