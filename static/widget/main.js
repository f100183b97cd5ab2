// The widget's entry point: <script async src="{base}/widget.js" data-key="{public key}" data-shopper="{JWT}"></script>
import { Api, Refusal } from "./api.js";
import { openCallWith } from "./calling.js";
import { Memory } from "./memory.js";
import { makeHost, Panel } from "./panel.js";
import { Talk } from "./talk.js";

// CATALOG is defined at the top of the bundle (conversations/widget/bundle.py).
const TRIES = [2_000, 10_000, 60_000];

class Widget {
  constructor(script) {
    this.base = new URL(script.src).origin;
    const key = script.dataset.key ?? "";
    this.memory = new Memory(key);
    this.api = new Api({ base: this.base, key, memory: this.memory, shopper: () => script.dataset.shopper ?? "" });
    this.talk = new Talk({
      api: this.api,
      memory: this.memory,
      onChange: () => this.render(),
      onSession: (session) => this.useSession(session),
    });
  }

  async start(tries = TRIES) {
    if (!document.body) await new Promise((ready) => addEventListener("DOMContentLoaded", ready));
    try {
      const session = await this.api.open();
      this.show(session.agent);
      this.useSession(session);
      this.talk.take(session.conversation);
    } catch (error) {
      this.reportFailure(error, tries);
    }
  }

  /** Reports a failed start in the console only, where the site's developer finds it, and retries unless the error is final. */
  reportFailure(error, [wait, ...tries]) {
    console.info(`Makegood widget not shown: ${error instanceof Refusal ? error.message : "the server can't be reached, or this site isn't in the list of sites on the Widget page."}`);
    const final = error instanceof Refusal && error.status < 500 && error.status !== 429;
    if (wait && !final) setTimeout(() => this.start(tries), wait);
  }

  useSession({ shopper }) {
    this.shopper = shopper;
    if (shopper.refused) console.info(`Makegood widget: ${shopper.refused.message}`);
  }

  show(agent) {
    const { host, root } = makeHost();
    this.panel = new Panel({ host, root, agent, base: this.base, actions: this.actions(), catalog: CATALOG });
    if (this.memory.get("open")) this.panel.open({ focus: false });
    performance.mark("makegood:shown");
  }

  actions() {
    return {
      write: (text, files) => this.talk.say(text, files),
      upload: (file, options) => this.talk.upload(file, options),
      askForPerson: (request, once) => this.askForPerson(request, once),
      call: (place) => openCallWith(this.api, { ...place, base: this.base, name: this.panel.agent.name }),
      rate: (score, comment) => this.talk.rate(score, comment),
      known: (name) => this.shopper?.[name] ?? "",
      hasAsked: (escalation) => this.memory.get("asked") === escalation,
      opened: () => (this.memory.set({ open: true }), this.render()),
      closed: () => (this.memory.set({ open: false }), this.render()),
    };
  }

  async askForPerson(request, once) {
    await this.api.post("person", request, { once });
    this.memory.set({ asked: request.escalation });
  }

  render() {
    if (!this.panel) return;
    const others = this.talk.ordered().filter((message) => message.role !== "user");
    const newest = others.at(-1)?.seq ?? 0;
    if (this.panel.isOpen && newest > (this.read() ?? 0)) this.memory.set({ read: { [this.talk.conversation]: newest } });
    const unread = this.panel.isOpen ? 0 : others.filter((message) => message.seq > this.read()).length;
    this.panel.render(this.talk, { unread });
  }

  /** The seq of the last message the visitor has seen. */
  read() {
    return this.memory.get("read")?.[this.talk.conversation] ?? 0;
  }
}

// A script that is loaded twice shows one widget.
if (document.currentScript && !window.makegoodWidget) {
  window.makegoodWidget = new Widget(document.currentScript);
  window.makegoodWidget.start();
}
