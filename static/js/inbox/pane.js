// The opened conversation, live. It shares the playground's transcript, store and stream; only operators can write.
import { Announcer } from "../announcer.js";
import { refill, state } from "../dom.js";
import { gettext } from "../i18n.js";
import { Store } from "../store.js";
import { Live } from "../todos/live.js";
import { waitingFor } from "../turn.js";
import { Aside } from "./aside.js";
import { Drafting } from "./drafting.js";
import { Notes } from "./notes.js";
import { Operator } from "./operator.js";
import { Transcript } from "./transcript.js";
import { AnswerTranslation, Translation } from "./translation.js";
import { Typing } from "./typing.js";
import { Watching } from "./watching.js";

const LIT_MS = 1_600;
const AGAIN_MS = 5_000;
// The parts that are read again when something changes.
const PARTS = ["facts", "promised", "todos", "directives", "activity", "flag", "state", "take", "close-form", "assign-menu", "tag-menu", "mentioned", "reply-chat", "reply-window"];
const at = (id) => document.getElementById(id);

export class Pane {
  /** `onNews()` is called when the list may have changed. */
  constructor({ main, api, onNews }) {
    const { conversation, after, inspector, todos, me } = main.dataset;
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
    this.notes = at("note") && new Notes({
      api,
      conversation,
      form: at("note"),
      modes: at("modes"),
      answer: at("answer"),
      refused: at("refused"),
      onNotes: (notes) => {
        this.chat.internal = notes;
        this.store.touch();
      },
      onWritten: () => (onNews(), aside.refresh()),
    });
    const operator = new Operator({
      api,
      conversation,
      take: at("take"),
      form: at("answer"),
      refused: at("refused"),
      refresh: () => (onNews(), aside.refresh()),
      onMessage: (message) => this.store.putMessage(message),
      onWrite: () => this.notes?.choose("reply"),
    });
    if (at("draft")) new Drafting({ api, conversation, form: at("answer"), button: at("draft"), say: (words) => operator.say(words) });
    if (at("translation")) this.translate({ api, conversation, say: (words) => operator.say(words) });
    this.typing = new Typing({ api, conversation, me, line: at("typing"), field: at("say") });
    this.store.listen(() => this.render());
    document.addEventListener("click", (event) => this.show(event.target.closest("[data-message]")?.dataset.message));
    this.open(conversation);
  }

  /** Offers translations: the customer's language is not the member's. */
  translate({ api, conversation, say }) {
    const onChange = () => this.store.touch();
    this.translation = new Translation({ api, conversation, part: at("translation"), onChange, say });
    this.chat.translationOf = (message) => this.translation.of(message);
    new AnswerTranslation({ api, conversation, form: at("answer"), button: at("translate-answer"), original: at("answer-original"), say });
  }

  /** Reads the parts beside the transcript again. */
  refreshSoon() {
    this.aside.refreshSoon();
    this.notes?.load();
  }

  async open(id) {
    try {
      await this.session.open(id);
    } catch (error) {
      this.store.loading = false;
      // The server can't be reached or has trouble: it is asked again.
      if (!error.status || error.status >= 500) setTimeout(() => this.open(id), AGAIN_MS);
      this.store.addNote({
        key: "open",
        code: error.code,
        message: `${gettext("Couldn’t load the transcript.")} ${error.message}`,
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
    if (last?.id !== this.last) this.typing.clear();
    this.last = last?.id;
    this.translation?.follow(store.orderedMessages());
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
