// The chat that an answer goes to, if the customer writes on several channels.
import { gettext } from "../i18n.js";

export class ReplyChat {
  /** `part` holds the choice, which the page reads again; it is empty for a customer with one chat. */
  constructor({ api, conversation, part }) {
    Object.assign(this, { api, conversation, part });
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

  /** Why an answer with these files can't go to the chosen chat; empty if it can. */
  refusal(files) {
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
