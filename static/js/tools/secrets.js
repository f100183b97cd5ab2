// A webhook's signing secret and secret headers. Stored secrets are never shown again.
import { h, icon } from "../dom.js";
import { ask, showSecret } from "./dialog.js";

const at = (id) => document.getElementById(id);

export class Secrets {
  constructor({ api, name, toast }) {
    Object.assign(this, { api, toast });
    this.path = `/custom-tools/${encodeURIComponent(name)}`;
    at("rotate")?.addEventListener("click", () => this.rotate());
    at("add-header")?.addEventListener("submit", (event) => (event.preventDefault(), this.add()));
    at("headers")?.addEventListener("click", (event) => this.drop(event.target.closest("[data-drop]")?.dataset.drop));
  }

  async rotate() {
    const answer = await ask({
      title: "Rotate the signing secret?",
      content: h(
        "p",
        { class: "t2" },
        "Calls are also signed with the old secret for 24 hours, so that you can update your endpoint.",
      ),
      buttons: [
        ["", "Cancel", "btn-quiet"],
        ["make", "Rotate", "btn-primary"],
      ],
    });
    if (answer !== "make") return;
    try {
      const { signing_secret: secret } = await this.api.post(`${this.path}/signing-secret`);
      at("signing-state").dataset.s = "ok";
      at("signing-state").replaceChildren(icon("lock"), "Set");
      await showSecret(secret);
    } catch (error) {
      this.toast.error(error.message);
    }
  }

  async add() {
    const name = at("header-name").value.trim();
    if (await this.change({ [name]: at("header-value").value })) {
      at("add-header").reset();
      this.toast(`${name} saved. It is sent with each call and not shown again.`);
      at("header-name").focus();
    }
  }

  async drop(name) {
    if (name && (await this.change({ [name]: null }))) this.toast(`${name} removed.`);
  }

  async change(headers) {
    at("header-problem").hidden = true;
    try {
      const { secret_headers: names } = await this.api.send("PATCH", `${this.path}/secret-headers`, { headers });
      at("headers").replaceChildren(...names.map(row));
      return true;
    } catch (error) {
      at("header-problem").hidden = false;
      at("header-problem").replaceChildren(icon("alert-circle"), error.message);
      return false;
    }
  }
}

const row = (name) =>
  h(
    "li",
    { "data-header": name },
    h("code", {}, name),
    h("span", { class: "t3" }, "••••••••"),
    h(
      "button",
      { type: "button", class: "btn btn-bare btn-sm ml", "data-drop": name, "aria-label": `Remove ${name}` },
      "Remove",
    ),
  );
