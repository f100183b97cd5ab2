// Suggested customer messages: an answer to the agent's question, else the next of a short list.
export class Suggestions {
  constructor(list) {
    const lines = [...list.children].map((line) => ({
      text: line.textContent,
      asks: line.dataset.asks,
      persona: line.dataset.persona,
    }));
    this.answers = lines.filter((line) => line.asks);
    this.script = lines.filter((line) => !line.asks);
  }

  next(store, persona) {
    const said = store.orderedMessages();
    const answer = said.length && this.answer(said, store.turn?.directives_written?.to_collect ?? []);
    if (answer) return persona[answer.persona] || answer.text;
    const step = said.filter((message) => message.role === "user").length;
    return this.script[step % this.script.length].text;
  }

  answer(said, toCollect) {
    const question =
      said
        .findLast((message) => message.role === "agent")
        ?.content.match(/[^.!?]*\?/g)
        ?.join(" ") ?? "";
    const mine = new Set(said.filter((message) => message.role === "user").map((message) => message.content));
    const asked = (text) =>
      this.answers.find((line) => new RegExp(`\\b(${line.asks})`, "i").test(text) && !mine.has(line.text));
    return asked(question) ?? asked(toCollect.join(", "));
  }
}
