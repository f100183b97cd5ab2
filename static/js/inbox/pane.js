// The opened conversation, live. It shares the playground's transcript, store and stream; only operators can write.
import { Announcer } from "../announcer.js";
import { refill, state } from "../dom.js";
import { Store } from "../store.js";
import { Live } from "../todos/live.js";
import { waitingFor } from "../turn.js";
import { Aside } from "./aside.js";
import { Operator } from "./operator.js";
import { Transcript } from "./transcript.js";
import { Watching } from "./watching.js";

const LIT_MS = 1_600;
// The parts that are read again when something changes.
const PARTS = ["facts", "promised", "todos", "directives", "activity", "flag", "state", "take", "close-form", "assign-menu", "tag-menu"];
const at = (id) => document.getElementById(id);

export class Pane {
  /** `onNews()` is called when the list may have changed. */
  constructor({ main, api, onNews }) {
    const { conversation, after, inspector, todos } = main.dataset;
    this.store = new Store();
    this.announcer = new Announcer(at("announcer"));
    this.chat = new Transcript({
      log: at("chat"),
      scroll: at("chat-scroll"),
      latest: at("latest"),
      todos,
      // A turn's title links to the inspector.
      select: (turn, { show }) => show && location.assign(inspector),
    });
    const aside = new Aside(PARTS.map(at).filter(Boolean));
    this.aside = aside;
    new Live({
      address: () => at("todos").dataset.news,
      stamp: () => at("todos").querySelector("[data-stamp]").dataset.stamp,
      refresh: () => {
        aside.refresh();
        this.session.refreshOwners();
      },
    });
    this.session = new Watching({ api, store: this.store, after, onNews: () => (aside.refreshSoon(), onNews()) });
    new Operator({
      api,
      conversation,
      take: at("take"),
      form: at("answer"),
      refused: at("refused"),
      refresh: () => (onNews(), aside.refresh()),
      onMessage: (message) => this.store.putMessage(message),
    });
    this.store.listen(() => this.render());
    document.addEventListener("click", (event) => this.show(event.target.closest("[data-message]")?.dataset.message));
    this.open(conversation);
  }

  /** Reads the parts beside the transcript again. */
  refreshSoon() {
    this.aside.refreshSoon();
  }

  async open(id) {
    try {
      await this.session.open(id);
    } catch (error) {
      this.store.loading = false;
      this.store.addNote({
        key: "open",
        code: error.code,
        message: `Couldn’t load the transcript. ${error.message}`,
      });
    }
  }

  /** Scrolls to the source message of a fact. */
  show(message) {
    const element = message && this.chat.rows.get(`message:${message}`)?.element;
    if (!element) return;
    const who = at("who");
    if (who.matches(":popover-open")) who.hidePopover();
    element.scrollIntoView({ block: "center" });
    element.classList.add("cv-lit");
    setTimeout(() => element.classList.remove("cv-lit"), LIT_MS);
  }

  render() {
    const { store } = this;
    const last = store.orderedMessages().at(-1);
    // What is shown has been seen: an action of this page is about it.
    if (last) for (const input of document.querySelectorAll("[name=seen]")) input.value = last.seq;
    this.chat.render(store);
    this.announcer.render(store);
    at("chat-empty").hidden = !store.isEmpty();
    at("chat-loading").hidden = !store.loading;
    at("lost").hidden = !store.isLost;
    at("waiting").hidden = !store.waiting;
    refill(
      at("waiting"),
      JSON.stringify(store.waiting),
      () => store.waiting && state("warn", "clock-pause", waitingFor(store.waiting)),
    );
  }
}
