// A webhook's signing secret and secret headers. Stored secrets are never shown again.
import { h, icon } from "../dom.js";
import { fill, gettext } from "../i18n.js";
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
      title: gettext("Rotate the signing secret?"),
      content: h(
        "p",
        { class: "t2" },
        gettext("Calls are also signed with the old secret for 24 hours, so you can update your endpoint."),
      ),
      buttons: [
        ["", gettext("Cancel"), "btn-quiet"],
        ["make", gettext("Rotate"), "btn-primary"],
      ],
    });
    if (answer !== "make") return;
    try {
      const { signing_secret: secret } = await this.api.post(`${this.path}/signing-secret`);
      at("signing-state").dataset.s = "ok";
      at("signing-state").replaceChildren(icon("lock"), gettext("Set"));
      await showSecret(secret);
    } catch (error) {
      this.toast.error(error.message);
    }
  }

  async add() {
    const name = at("header-name").value.trim();
    if (await this.change({ [name]: at("header-value").value })) {
      at("add-header").reset();
      this.toast(fill(gettext("%(name)s saved. It’s sent with each call and not shown again."), { name }));
      at("header-name").focus();
    }
  }

  async drop(name) {
    if (name && (await this.change({ [name]: null }))) this.toast(fill(gettext("%(name)s removed."), { name }));
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
      { type: "button", class: "btn btn-bare btn-sm ml", "data-drop": name, "aria-label": fill(gettext("Remove %(name)s"), { name }) },
      gettext("Remove"),
    ),
  );
