// Saving by the page's own form, as in the administration: the draft is checked and compared with the saved version first.
import { fill, gettext } from "../i18n.js";
import { resolveConflict } from "./conflict.js";

export class PageForm {
  constructor({ form, tool }) {
    Object.assign(this, { form, tool });
    this.version = form.elements.expected_version;
    form.addEventListener("submit", (event) => {
      if (this.isSure) return;
      event.preventDefault();
      this.submit();
    });
  }

  async submit() {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      if ((await this.tool.isReady()) && (await this.isNewest())) this.send();
    } finally {
      this.isBusy = false;
    }
  }

  send() {
    this.isSure = this.tool.isLeaving = true;
    this.form.requestSubmit();
  }

  /** True unless someone else saved the tool and the person doesn't save over it. The server checks it again. */
  async isNewest() {
    const { tool } = this;
    const theirs = await tool.newer();
    if (!theirs) return true;
    const choice = await resolveConflict({
      message: fill(gettext("%(name)s has since been saved as version %(version)s."), { name: theirs.name, version: theirs.version }),
      theirs,
      mine: tool.draft.document,
    });
    if (choice === "") return false;
    this.version.value = theirs.version;
    if (choice === "mine") return true;
    tool.draft.wasSaved(theirs);
    tool.checking.now();
    return false;
  }
}
