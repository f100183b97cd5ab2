// The test customer for the next conversation, stored in the browser per project.
import * as storage from "./storage.js";

const FIELDS = ["name", "phone", "email"];

export class Persona {
  constructor({ project, dialog, button, onSave }) {
    this.storeKey = `mg-persona:${project}`;
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.value = this.stored();
    button.addEventListener("click", () => this.open());
    dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close("cancel"));
    dialog.addEventListener("close", () => dialog.returnValue === "save" && this.save(onSave));
  }

  stored() {
    return JSON.parse(storage.read("localStorage", this.storeKey)) ?? {};
  }

  open() {
    for (const name of FIELDS) this.form.elements[name].value = this.value[name] ?? "";
    this.form.elements.returns.checked = Boolean(this.value.returns);
    this.dialog.returnValue = "";
    this.dialog.showModal();
  }

  save(onSave) {
    const typed = Object.fromEntries(FIELDS.map((name) => [name, this.form.elements[name].value.trim()]));
    const same = FIELDS.every((name) => typed[name] === (this.value[name] ?? ""));
    this.value = { ...typed, returns: this.form.elements.returns.checked, id: same ? this.value.id : undefined };
    this.keep();
    onSave();
  }

  keep() {
    storage.write("localStorage", this.storeKey, JSON.stringify(this.value));
  }

  /** The persona for the API. A non-returning customer gets a new id each time. */
  forApi() {
    if (!this.value.returns || !this.value.id) this.value.id = crypto.randomUUID();
    this.keep();
    const known = FIELDS.filter((name) => this.value[name]).map((name) => [name, this.value[name]]);
    return { external_id: `playground-${this.value.id}`, ...Object.fromEntries(known) };
  }
}
