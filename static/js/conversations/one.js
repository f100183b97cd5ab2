// A live conversation. It shares the playground's transcript, store and stream; only operators can write.
import { Announcer } from "../announcer.js";
import { Api } from "../api.js";
import { Chat } from "../chat.js";
import { refill, state } from "../dom.js";
import { Store } from "../store.js";
import { Live } from "../todos/live.js";
import { waitingFor } from "../turn.js";
import { Aside } from "./aside.js";
import { Operator } from "./operator.js";
import { Watching } from "./watching.js";

const LIT_MS = 1_600;
const at = (id) => document.getElementById(id);

class Conversation {
  constructor(main) {
    const { api: base, project, conversation, after, inspector, todos } = main.dataset;
    this.store = new Store();
    this.announcer = new Announcer(at("announcer"));
    this.chat = new Chat({
      log: at("chat"),
      scroll: at("chat-scroll"),
      latest: at("latest"),
      todos,
      // A turn's title links to the inspector.
      select: (turn, { show }) => show && location.assign(inspector),
    });
    const aside = new Aside(["facts", "todos", "directives", "flag", "take"].map(at));
    new Live({
      address: () => at("todos").dataset.news,
      stamp: () => at("todos").querySelector("[data-stamp]").dataset.stamp,
      refresh: () => {
        aside.refresh();
        this.session.refreshOwners();
      },
    });
    const api = new Api({ base, project, csrf: document.querySelector("meta[name=csrf-token]").content });
    this.session = new Watching({ api, store: this.store, after, onNews: () => aside.refreshSoon() });
    new Operator({
      api,
      conversation,
      take: at("take"),
      form: at("answer"),
      refused: at("refused"),
      refresh: () => aside.refresh(),
      onMessage: (message) => this.store.putMessage(message),
    });
    this.store.listen(() => this.render());
    document.addEventListener("click", (event) => this.show(event.target.closest("[data-message]")?.dataset.message));
    this.open(conversation);
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

new Conversation(at("main"));
