// WhatsApp's templates: chosen by name and filled in, when free text isn't delivered any more.
import { h } from "../dom.js";
import { fill, gettext } from "../i18n.js";

// The account's list comes from Meta.
const META_MS = 30_000;

export class Templates {
  /** `panel` holds the choice; `send(body)` sends a template and returns true if it was stored. */
  constructor({ api, conversation, form, panel, say, send }) {
    Object.assign(this, { api, conversation, panel, say, send });
    form.addEventListener("click", ({ target }) => target.closest("[data-templates]") && this.open());
    // Enter sends the template, not the answer.
    panel.addEventListener("keydown", (event) => event.key === "Enter" && event.target.matches("input") && (event.preventDefault(), this.submit()));
  }

  async open() {
    if (!this.panel.hidden) return this.close();
    this.say("");
    try {
      const { results } = await this.api.request("GET", `/conversations/${this.conversation}/templates`, { timeout: META_MS });
      if (!results.length) return this.say(gettext("The WhatsApp account has no templates. Create one in Meta’s Business Manager."));
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
      templates.map(({ name, language }, place) => h("option", { value: place }, `${name} (${language})`)),
    );
    this.panel.replaceChildren(this.choice, this.gaps);
    this.panel.hidden = false;
    this.choose(templates);
    this.choice.focus();
  }

  choose(templates) {
    const one = templates[this.choice.value];
    this.chosen = one;
    this.fields = one.variables.map((name) => h("input", { class: "form-control form-control-sm", name, maxlength: 1000, autocomplete: "off", "aria-label": fill(gettext("Value for %(name)s"), { name }), placeholder: name }));
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
    const empty = this.fields.find((field) => !field.value.trim());
    if (empty) return empty.focus();
    this.isBusy = true;
    const { name, language } = this.chosen;
    const variables = Object.fromEntries(this.fields.map((field) => [field.name, field.value.trim()]));
    if (await this.send({ name, language, variables })) this.close();
    this.isBusy = false;
  }
}
