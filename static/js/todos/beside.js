// Todos of the conversation open in the playground.
import { h, refill, state } from "../dom.js";
import { Live } from "./live.js";

const SHOWN = 3;
const STATES = {
  pending_review: ["warn", "hourglass", "To review"],
  approved: ["act", "circle-check", "Approved"],
  in_progress: ["act", "loader-2", "In progress"],
  needs_attention: ["bad", "alert-circle", "Needs attention"],
  failed: ["bad", "alert-triangle", "Failed"],
  completed: ["ok", "circle-check", "Completed"],
  rejected: ["mute", "circle-x", "Rejected"],
  expired: ["mute", "clock-off", "Expired"],
  cancelled: ["mute", "circle-minus", "Canceled"],
};

export class Beside {
  /** `page` is the base URL of the todo pages; `show(id)` selects the conversation; `onNews()` is called after a change. */
  constructor(element, { api, page, onNews }) {
    Object.assign(this, { element, api, page, onNews, id: null, stamp: "" });
    new Live({
      address: () => this.id && `${page}/news?conversation=${this.id}`,
      stamp: () => this.stamp,
      refresh: (stamp) => this.refresh(stamp),
    });
  }

  show(id) {
    if (id === this.id) return;
    Object.assign(this, { id, stamp: "" });
    this.render([]);
  }

  async refresh(stamp) {
    const { id } = this;
    // A new conversation was started while the request was in flight.
    if (!id) return;
    const { results } = await this.api.get(`/todos?conversation=${id}`);
    if (id !== this.id) return;
    this.stamp = stamp;
    this.render(results);
    this.onNews();
  }

  render(todos) {
    this.element.hidden = !todos.length;
    refill(this.element, JSON.stringify(todos.map(({ id, status, description }) => [id, status, description])), () => [
      ...todos.slice(0, SHOWN).map((todo) => this.row(todo)),
      todos.length > SHOWN && h("a", { href: `${this.page}/${todos[SHOWN].id}` }, `and ${todos.length - SHOWN} more`),
    ]);
  }

  row({ id, description, status }) {
    return h(
      "a",
      { href: `${this.page}/${id}`, class: "mg-flow" },
      state(...STATES[status]),
      h("span", { class: "ell", dir: "auto" }, description),
    );
  }
}
