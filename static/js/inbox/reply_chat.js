// The chat that an answer goes to, if the customer writes on several channels.
import { gettext } from "../i18n.js";

export class ReplyChat {
  /** `part` holds the choice, which the page reads again; it is empty for a customer with one chat. `window` says whether
   * this chat takes free text. */
  constructor({ api, conversation, part, window }) {
    Object.assign(this, { api, conversation, part, window });
  }

  get field() {
    return this.part?.querySelector("select");
  }

  get chosen() {
    return this.field?.value || this.conversation;
  }

  get isElsewhere() {
    return this.chosen !== this.conversation;
  }

  /** True while the chosen chat takes only a template. */
  get isClosed() {
    const option = this.field?.selectedOptions[0];
    return option ? "closed" in option.dataset : Boolean(this.window?.querySelector("[data-templates]"));
  }

  /** Why an answer with these files can't go to the chosen chat; empty if it can. */
  refusal(files) {
    if (this.isClosed) return gettext("The customer hasn’t written there for 24 hours, so WhatsApp doesn’t deliver free text. Choose a template, or another chat.");
    return this.isElsewhere && files.length ? gettext("Attach the files in the chat that they go to, or choose this one.") : "";
  }

  /** Who answers in another chat has it. */
  async takeOver() {
    if (this.isElsewhere) await this.api.post(`/conversations/${this.chosen}/take-over`);
  }

  /** Follows an answer to the chat that it went to. */
  follow(id) {
    if (id !== this.conversation) location.assign(`${this.field.dataset.page}/${id}${location.search}`);
  }
}
