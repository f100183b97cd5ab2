// Selects a past conversation and one of the agent's replies in it.
import { h } from "../dom.js";
import { ago } from "../format.js";
import { gettext } from "../i18n.js";

const ROLES = { user: "customer", agent: "agent", operator: "operator" };
const LONGEST = 70;
const NEWEST = 30;

export class PastAnswers {
  constructor({ api, conversation, turn }) {
    Object.assign(this, { api, conversation, turn });
    this.messages = [];
    conversation.addEventListener("change", () => this.open());
  }

  /** Loads the list once. */
  async load() {
    if (this.loaded) return;
    this.loaded = true;
    this.conversation.replaceChildren(h("option", { value: "" }, gettext("Loading…")));
    try {
      const { results } = await this.api.get(`/conversations?limit=${NEWEST}`);
      this.rows = new Map(results.map((row) => [row.id, row]));
      const options = results.map((row) => h("option", { value: row.id }, titleOf(row)));
      this.conversation.replaceChildren(
        ...(options.length ? options : [h("option", { value: "" }, gettext("No conversations yet"))]),
      );
      await this.open();
    } catch (error) {
      this.loaded = false;
      this.conversation.replaceChildren(h("option", { value: "" }, error.message));
    }
  }

  async open() {
    const id = this.conversation.value;
    this.turn.disabled = true;
    this.turn.replaceChildren();
    if (!id) return;
    const messages = await this.api.list(`/conversations/${id}/messages`).catch(() => []);
    if (id !== this.conversation.value) return;
    this.messages = messages.filter((message) => message.role in ROLES);
    const answers = this.messages.filter((message) => message.role === "agent").reverse();
    this.turn.replaceChildren(
      ...(answers.length ? answers : [{ id: "", content: gettext("No reply yet") }]).map((message) =>
        h("option", { value: message.id }, shorten(message.content)),
      ),
    );
    this.turn.disabled = !answers.length;
  }

  /** The selected reply with the messages before it, or null. */
  get chosen() {
    const at = this.messages.findIndex((message) => message.id === this.turn.value);
    if (at < 0) return null;
    return {
      answer: this.messages[at].content,
      conversation: this.messages
        .slice(Math.max(0, at - 60), at)
        .map(({ role, content }) => ({ role: ROLES[role], content })),
      channel: this.rows.get(this.conversation.value).channel,
    };
  }
}

const titleOf = ({ persona, channel, created_at: since }) =>
  `${persona?.name ?? gettext("Unnamed customer")}, ${channel}, ${ago(since)}`;
const shorten = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s+\S*$/, "")}…` : text);
