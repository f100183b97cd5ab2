// The playground: a test conversation next to its turn inspector.
import { Announcer } from "./announcer.js";
import { Api } from "./api.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { refill, state } from "./dom.js";
import { Files } from "./files.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { Inspector } from "./inspector.js";
import { offerKeys } from "./keys.js";
import { Microphone } from "./microphone.js";
import { Persona } from "./persona.js";
import { Phone } from "./phone.js";
import { Session } from "./session.js";
import { Store } from "./store.js";
import { Suggestions } from "./suggestions.js";
import { toaster } from "./toast.js";
import { Beside } from "./todos/beside.js";
import { reading, waitingFor } from "./turn.js";

const at = (id) => document.getElementById(id);

class Playground {
  constructor(main) {
    const { api: base, project, conversation } = main.dataset;
    this.canWrite = "canWrite" in main.dataset;
    const canOperate = "canOperate" in main.dataset;
    this.api = new Api({ base, project, csrf: document.querySelector("meta[name=csrf-token]").content });
    this.store = new Store();
    this.session = new Session({ api: this.api, store: this.store });
    this.toast = toaster(at("toasts"));
    this.channel = "chat";
    this.isDraft = "triesDraft" in main.dataset;
    this.links = { effects: main.dataset.effects, tools: main.dataset.tools, todos: main.dataset.todos };
    this.build({ project, canOperate });
    this.store.listen(() => this.render());
    addEventListener("popstate", () => this.go(new URLSearchParams(location.search).get("conversation")));
    this.go(conversation || null, { turn: main.dataset.turn });
  }

  build({ project, canOperate }) {
    const step = (by) => this.store.step(by);
    const runAgain = canOperate && ((job, turn) => this.runAgain(job, turn));
    const refresh = (turn) => this.session.refresh(turn);
    this.inspector = new Inspector({
      api: this.api,
      toast: this.toast,
      step,
      runAgain,
      refresh,
      canOperate,
      links: this.links,
    });
    this.announcer = new Announcer(at("announcer"));
    this.todos = new Beside(at("todos"), {
      api: this.api,
      page: this.links.todos,
      onNews: () => this.session.refreshOwners(),
    });
    this.chat = new Chat({
      log: at("chat"),
      scroll: at("chat-scroll"),
      latest: at("latest"),
      todos: this.links.todos,
      inspects: true,
      select: (turn, { show }) => this.select(turn, show),
      retry: (item) => this.session.deliver(item, { start: () => this.start() }),
      edit: (item) => this.edit(item),
    });
    this.views();
    if (this.canWrite) this.buildWriting(project);
    offerKeys(["J K", gettext("Later turn, earlier turn"), { j: () => step(1), k: () => step(-1) }], ["esc", gettext("Leave the field")]);
  }

  buildWriting(project) {
    this.suggestions = new Suggestions(at("suggestions"));
    this.persona = new Persona({
      project,
      dialog: at("persona"),
      button: at("persona-open"),
      onSave: () => this.anew(),
    });
    this.composer = new Composer({
      form: at("compose"),
      suggest: at("suggest"),
      onSend: (content) => this.send(content),
      onSuggest: () => this.suggestions.next(this.store, this.persona.value),
    });
    this.addFiles();
    for (const button of at("openers").children)
      button.addEventListener("click", () => this.send(button.textContent.trim()));
    for (const button of at("channels").children) button.addEventListener("click", () => this.setChannel(button.value));
    for (const button of at("settings")?.children ?? [])
      button.addEventListener("click", () => this.setDraft(button.value === "draft"));
    at("new").addEventListener("click", () => this.anew());
    if (at("phone")) this.phone = this.session.phone = new Phone(at("phone"), { api: this.api, toast: this.toast, onCall: () => this.call() });
    if (at("microphone"))
      this.microphone = new Microphone(at("microphone"), { api: this.api, toast: this.toast, start: () => this.startSpeaking() });
    offerKeys(["↵", gettext("Send")], ["⇧ ↵", gettext("New line")], ["N", gettext("New conversation"), { n: () => this.anew() }]);
  }

  views() {
    for (const button of at("views").children) button.addEventListener("click", () => this.view(button.value));
    const lit = (event) => (at("panes").dataset.lit = event.target.closest("[data-w]")?.dataset.w ?? "");
    for (const type of ["pointerover", "focusin"]) at("panes").addEventListener(type, lit);
    at("panes").addEventListener("pointerleave", () => (at("panes").dataset.lit = ""));
  }

  view(name) {
    at("panes").dataset.view = name;
    for (const button of at("views").children) button.setAttribute("aria-pressed", String(button.value === name));
    if (name === "chat") this.chat.settle();
  }

  select(turn, show) {
    this.store.select(turn);
    if (show) this.view("turn");
  }

  send(content) {
    this.chat.toEnd();
    this.session.send(content, { start: () => this.start(), files: this.files.files });
    this.files.clear();
  }

  /** Puts an unsent message back into the composer. */
  edit(item) {
    this.session.discard(item);
    this.composer.restore(item.content);
    this.files.restore(item.files);
  }

  /** Files of the customer. The first one begins the conversation. */
  addFiles() {
    const say = (words) => words && this.toast.error(words);
    const upload = async (file, key) => {
      if (!this.session.id) await this.start();
      return this.api.upload(`/conversations/${this.session.id}/messages/attachments`, file, key);
    };
    this.files = new Files({ form: at("compose"), tool: at("file-tool"), list: at("files"), say, upload });
    this.composer.isRefused = () => this.files.isBusy;
    this.composer.mayBeEmpty = () => this.files.ids.length > 0;
  }

  /** Begins the conversation. Files and words that come meanwhile share it. */
  start(channel = this.channel) {
    this.starting ??= this.begin(channel).finally(() => (this.starting = null));
    return this.starting;
  }

  async begin(channel) {
    await this.session.begin({ channel, persona: this.persona.forApi(), isDraft: this.isDraft });
    if (this.session.id) history.pushState(null, "", `?conversation=${encodeURIComponent(this.session.id)}`);
    if (this.isPhone && channel === "phone" && this.session.id) await this.phone.begin(this.session.id);
  }

  /** A new conversation, in which the microphone is heard. */
  async startSpeaking() {
    if (this.session.id) this.anew();
    await this.start("webcall");
    return this.session.id;
  }

  /** True if what is typed is said in a call. */
  get isPhone() {
    return Boolean(this.phone) && this.channel === "phone";
  }

  /** Calls the agent, who speaks first. */
  async call() {
    if (this.session.id) this.anew();
    try {
      await this.start();
    } catch (error) {
      this.toast.error(error.message);
    }
  }

  /** Starts a new conversation; the previous one stays in the browser history. */
  anew() {
    if (this.session.id) history.pushState(null, "", location.pathname);
    this.session.leave();
    this.phone?.leave();
    this.files.clear();
    this.view("chat");
    this.composer.fill("");
  }

  /** Opens a conversation, at a turn if given. */
  async go(conversation, { turn = null } = {}) {
    if (!conversation) return this.session.leave();
    try {
      await this.session.open(conversation);
      if (this.store.turns.has(turn)) this.select(turn, true);
      this.channel = this.store.conversation?.channel ?? this.channel;
      if (this.isPhone) await this.phone.open(conversation);
      this.isDraft = this.store.conversation?.metadata.draft === true;
    } catch (error) {
      this.store.loading = false;
      const message =
        error.status === 404
          ? gettext("This conversation doesn’t exist in this project.")
          : `${gettext("The conversation couldn’t be opened.")} ${error.message}`;
      this.store.addNote({ key: "open", code: error.code, message });
    }
  }

  setChannel(channel) {
    if (channel === this.channel) return;
    this.channel = channel;
    this.store.touch();
    if (this.session.id) this.anew();
  }

  /** Tries the draft of the agent's settings, or what is published, in a new conversation. */
  setDraft(isDraft) {
    if (isDraft === this.isDraft) return;
    this.isDraft = isDraft;
    this.store.touch();
    if (this.session.id) this.anew();
  }

  async runAgain(job, turn) {
    try {
      await this.session.runAgain(job, turn);
      this.toast(gettext("Running again."));
    } catch (error) {
      this.toast.error(error.message);
    }
  }

  render() {
    const { store } = this;
    this.chat.render(store);
    this.announcer.render(store);
    this.inspector.render(store);
    this.todos.show(this.session.id);
    at("chat-empty").hidden = !store.isEmpty();
    at("chat-loading").hidden = !store.loading;
    at("lost").hidden = !store.isLost;
    this.renderWaiting(store.waiting);
    this.renderPhone(store.turn);
    if (this.canWrite) this.renderTop(store.conversation);
  }

  renderWaiting(waiting) {
    at("waiting").hidden = !waiting;
    refill(at("waiting"), JSON.stringify(waiting), () => waiting && state("warn", "clock-pause", waitingFor(waiting)));
  }

  renderPhone(turn) {
    const fired = turn?.verdicts.filter((verdict) => verdict.fired).length ?? 0;
    const held = turn?.verdicts.filter((verdict) => reading(verdict).tone === "warn").length ?? 0;
    at("views").querySelector("[value=turn]").textContent = turn ? fill(gettext("Turn %(number)s"), { number: turn.seq }) : gettext("Turn");
    refill(at("view-counts"), `${fired}:${held}`, () => [
      fired > 0 && state("ok", "bolt", fill(ngettext("%(number)s fired", "%(number)s fired", fired), { number: fired })),
      held > 0 && state("warn", "hand-stop", fill(ngettext("%(number)s held back", "%(number)s held back", held), { number: held })),
    ]);
  }

  renderTop(conversation) {
    for (const button of at("channels").children)
      button.setAttribute("aria-pressed", String(button.value === this.channel));
    for (const button of at("settings")?.children ?? [])
      button.setAttribute("aria-pressed", String((button.value === "draft") === this.isDraft));
    const name = conversation ? conversation.persona?.name : this.persona.value.name;
    at("persona-open").querySelector("span").textContent = name || gettext("Test customer");
    this.composer.address(name ?? "");
    at("file-tool").hidden = this.isPhone;
    this.phone?.show(this.isPhone && (!conversation || this.phone.has(conversation.id)));
    this.microphone?.show(["phone", "webcall"].includes(this.channel));
  }
}

new Playground(at("main"));
