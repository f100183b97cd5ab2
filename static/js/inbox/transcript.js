// The transcript in the inbox: day separators, and answers of people told apart from the agent's.
import { Chat } from "../chat.js";
import { h } from "../dom.js";
import * as format from "../format.js";

export class Transcript extends Chat {
  list(store) {
    let before = null;
    return super.list(store).flatMap((row) => {
      const message = row.key.startsWith("message:") && store.messages.get(row.key.slice("message:".length));
      const day = message ? format.day(message.created_at) : before;
      const isNew = day !== before;
      before = day;
      return isNew ? [separator(day, message), row] : [row];
    });
  }

  fromAgent(message, details) {
    const element = super.fromAgent(message, details);
    if (message.role === "operator") element.classList.add("op");
    return element;
  }
}

const separator = (day, message) => ({
  key: `day:${message.id}`,
  signature: day,
  build: () => h("div", { class: "mg-sys ib-day" }, h("span", {}, day)),
});
