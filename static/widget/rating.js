// The card that asks for one to five stars once a conversation is over, and for a comment after that.
import { h, icon } from "./dom.js";

const STARS = [1, 2, 3, 4, 5];
const LONGEST_COMMENT = 1000;
// A conversation that nobody continues for this long is over, too.
const SILENT_MS = 60 * 60 * 1000;
let cards = 0;

/** True if the customer may be asked: somebody answered, and the conversation is over. */
export function asksForRating(talk, agent) {
  const messages = talk.ordered();
  const last = messages.at(-1);
  if (!agent.ratings || !last || talk.waiting || talk.drafts.size || talk.outbox.length) return false;
  if (!messages.some(({ role }) => role === "agent" || role === "operator")) return false;
  return talk.isOver || Date.now() - Date.parse(last.created_at) > SILENT_MS;
}

export class RatingCard {
  constructor(context, rating) {
    Object.assign(this, { context, rating, id: `rating${++cards}` });
    const { say } = context;
    this.stars = h("div", { class: "stars", role: "group", "aria-labelledby": `${this.id}-title` }, STARS.map((score) => this.star(score)));
    this.problem = h("p", { class: "problem", role: "alert" });
    this.thanks = h("p", { class: "thanks", role: "status" });
    this.field = h("textarea", { id: `${this.id}-comment`, rows: "2", maxlength: String(LONGEST_COMMENT), dir: "auto" });
    this.comment = h(
      "form",
      { hidden: true },
      h("label", { for: `${this.id}-comment` }, say("Anything to add? (optional)")),
      this.field,
      h("div", { class: "acts" }, h("button", { class: "go" }, say("Send"))),
    );
    this.comment.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(this.rating.score, this.field.value.trim(), { isLast: true });
    });
    this.element = h("div", { class: "rate" }, h("p", { id: `${this.id}-title` }, say("How was this conversation?")), this.stars, this.problem, this.thanks, this.comment);
    this.show();
  }

  star(score) {
    return h("button", { type: "button", "aria-label": this.context.say("%(count)s of 5 stars", { count: score }), onclick: () => this.send(score, this.rating?.comment ?? "") }, icon("star"));
  }

  async send(score, comment, { isLast = false } = {}) {
    this.problem.textContent = "";
    try {
      this.rating = await this.context.rate(score, comment);
      this.show();
      this.comment.hidden = isLast;
      this.element.scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.problem.textContent = error.status ? error.message : this.context.say("Not sent: no connection. Try again.");
    }
  }

  show() {
    const score = this.rating?.score ?? 0;
    [...this.stars.children].forEach((star, at) => {
      star.setAttribute("aria-pressed", String(at + 1 === score));
      star.classList.toggle("on", at < score);
    });
    this.thanks.textContent = score ? this.context.say("Thanks for your rating.") : "";
  }
}
