// WhatsApp's templates: chosen by name and filled in, when free text isn't delivered any more.
import { h } from "../dom.js";
import { languageName } from "../format.js";
import { fill, gettext } from "../i18n.js";

// The account's list comes from Meta.
const META_MS = 30_000;

export class Templates {
  /** `panel` holds the choice; `send(body)` sends a template and returns true if it was stored. `files` are those of the answer. */
  constructor({ api, conversation, files, form, panel, say, send }) {
    Object.assign(this, { api, conversation, files, panel, say, send });
    form.addEventListener("click", ({ target }) => target.closest("[data-templates]") && this.open());
    // Enter sends the template, not the answer.
    panel.addEventListener("keydown", (event) => event.key === "Enter" && event.target.matches("input") && (event.preventDefault(), this.submit()));
  }

  async open() {
    if (!this.panel.hidden) return this.close();
    this.say("");
    try {
      const { results } = await this.api.request("GET", `/conversations/${this.conversation}/templates`, { timeout: META_MS });
      if (!results.length) return this.say(gettext("The WhatsApp account has no templates yet."));
      this.show(results);
    } catch (error) {
      this.say(error.message);
    }
  }

  close() {
    this.panel.hidden = true;
    this.panel.replaceChildren();
  }

  show(templates) {
    this.gaps = h("div", { class: "ib-gaps" });
    this.choice = h(
      "select",
      { class: "form-select form-select-sm", "aria-label": gettext("Template"), onchange: () => this.choose(templates) },
      templates.map(({ name, language }, place) => h("option", { value: place }, `${name} (${languageName(language)})`)),
    );
    this.panel.replaceChildren(this.choice, this.gaps);
    this.panel.hidden = false;
    this.choose(templates);
    this.choice.focus();
  }

  choose(templates) {
    const one = templates[this.choice.value];
    this.chosen = one;
    this.fields = one.variables.map((name) => {
      const label = name in one.files ? gettext("Address of the file, or attach one") : fill(gettext("Value for %(name)s"), { name });
      const placeholder = name in one.files ? label : name;
      return h("input", { class: "form-control form-control-sm", name, maxlength: 1000, autocomplete: "off", "aria-label": label, placeholder });
    });
    this.gaps.replaceChildren(
      h("p", { class: "ts ib-template-text", dir: "auto" }, one.text),
      ...(one.problem ? [h("p", { class: "ts", role: "status" }, one.problem)] : this.fields),
      h("div", { class: "mg-flow" },
        h("button", { type: "button", class: "btn btn-bare btn-sm", onclick: () => this.close() }, gettext("Cancel")),
        h("button", { type: "button", class: "btn btn-primary btn-sm ml", disabled: Boolean(one.problem), onclick: () => this.submit() }, gettext("Send template")),
      ),
    );
  }

  /** Sends it once, however often it is pressed. */
  async submit() {
    if (this.isBusy || this.chosen.problem) return;
    const { name, language, files } = this.chosen;
    // Without an address, the file that is attached to the answer.
    const valueOf = (field) => field.value.trim() || (field.name in files ? this.files.ids[0] : "") || "";
    const empty = this.fields.find((field) => !valueOf(field));
    if (empty) return empty.focus();
    if (this.files.isBusy) return;
    this.isBusy = true;
    const variables = Object.fromEntries(this.fields.map((field) => [field.name, valueOf(field)]));
    if (await this.send({ name, language, variables })) {
      if (this.files.ids.some((id) => Object.values(variables).includes(id))) this.files.clear();
      this.close();
    }
    this.isBusy = false;
  }
}
