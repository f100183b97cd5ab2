// The launcher and the panel it opens, in a shadow tree of their own.
import { Attach } from "./attach.js";
import { h, icon } from "./dom.js";
import { hasColleague } from "./colleagues.js";
import { Log } from "./log.js";
import { Reader } from "./reader.js";
import { CSS } from "./style.js";
import { chosenLanguage, directionOf, sayIn } from "./words.js";

const LONGEST = 4000;
const FOCUSABLE = "a[href], button:not(:disabled), input, textarea, [tabindex='0']";

/** Creates the host element at the end of the page. It has `position: fixed` and takes no space there. */
export function makeHost(page = document.body) {
  const host = h("div", { "data-makegood": "" });
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
  page.append(host);
  return { host, root };
}

export class Panel {
  constructor({ host, root, agent, base, actions, catalog }) {
    const language = chosenLanguage(catalog, agent.language);
    this.say = sayIn(catalog, language, { name: agent.name });
    Object.assign(this, { host, root, agent, actions, language, isOpen: false });
    const context = {
      agent,
      base,
      language,
      say: this.say,
      write: (text) => actions.write(text),
      askForPerson: actions.askForPerson,
      hasAsked: actions.hasAsked,
      rate: actions.rate,
      known: actions.known,
      onScroll: (atEnd) => (this.latest.hidden = atEnd),
    };
    this.log = new Log(context);
    this.reader = new Reader(this.say("Conversation with %(name)s"));
    this.frame = h("div", { lang: language, dir: directionOf(language) }, this.launcher(), this.dialog());
    this.paint(agent.theme);
    root.append(this.frame);
    root.addEventListener("keydown", (event) => this.keyed(event));
  }

  /** Applies the theme, which the server has validated. */
  paint({ brand, on, link_light, link_dark, position, scheme }) {
    const colours = { "--w-brand": brand, "--w-on": on, "--w-link-light": link_light, "--w-link-dark": link_dark };
    for (const [name, value] of Object.entries(colours)) this.host.style.setProperty(name, value);
    this.host.dataset.scheme = scheme;
    this.frame.classList.toggle("left", position === "left");
  }

  launcher() {
    this.dot = h("span", { class: "dot", hidden: true });
    const open = { type: "button", class: "launch", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-label": this.say("Chat with %(name)s") };
    this.launch = h("button", { ...open, onclick: () => this.open() }, icon("chat"), this.dot);
    return this.launch;
  }

  dialog() {
    const { name, business } = this.agent;
    this.status = h("small", {}, this.say("Replies right away"));
    this.bar = h("p", { class: "bar", role: "status", hidden: true });
    this.long = h("p", { class: "problem long", id: "too-long", role: "status" });
    this.refused = h("p", { class: "problem long", role: "alert" });
    this.latest = h("button", { type: "button", class: "latest", hidden: true, "aria-label": this.say("Newest messages"), onclick: () => this.toEnd() }, icon("down"));
    this.shell = h(
      "div",
      { class: "w", role: "dialog", "aria-label": this.say("Chat with %(name)s"), hidden: true },
      h(
        "div",
        { class: "top" },
        h("span", { class: "av", "aria-hidden": "true" }, initials(name)),
        h("div", {}, h("b", {}, h("bdi", {}, business || name)), this.status),
        this.agent.calls && (this.phone = h("button", { type: "button", "aria-label": this.say("Call %(name)s"), onclick: () => this.call() }, icon("phone"))),
        h("button", { type: "button", "aria-label": this.say("Close chat"), onclick: () => this.close() }, icon("close")),
      ),
      this.log.element,
      this.latest,
      this.bar,
      this.long,
      this.refused,
      this.composer(),
      this.reader.region,
    );
    return this.droppable(this.shell);
  }

  composer() {
    this.input = h("textarea", { id: "message", rows: "1", placeholder: this.say("Write a message"), dir: "auto", enterkeyhint: "send", "aria-describedby": "too-long" });
    const form = h(
      "form",
      { class: "composer" },
      h("label", { class: "vh", for: "message" }, this.say("Your message")),
      this.agent.files && this.attaching(),
      this.input,
      (this.send = h("button", { "aria-label": this.say("Send") }, icon("send"))),
    );
    form.addEventListener("submit", (event) => this.submit(event));
    this.input.addEventListener("input", () => (this.isTooLong(), (this.isSending = false)));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
    });
    return form;
  }

  /** The list and the button of files. */
  attaching() {
    this.files = new Attach({
      say: this.say,
      upload: this.actions.upload,
      refuse: (sentence) => (this.refused.textContent = sentence),
      changed: () => this.filesChanged(),
    });
    this.input.addEventListener("paste", (event) => this.files.given(event, event.clipboardData));
    return [this.files.list, this.files.button, this.files.input];
  }

  /** What was to be sent while a file was on its way goes out once it is there. */
  filesChanged() {
    this.send?.classList.toggle("busy", !this.files.isReady);
    if (this.isSending && this.files.isReady) this.submit();
  }

  /** Takes files that are dropped anywhere on the panel. */
  droppable(shell) {
    const over = (event) => {
      const isFile = this.files && event.dataTransfer.types.includes("Files");
      if (isFile) event.preventDefault();
      shell.classList.toggle("over", isFile && event.type === "dragover");
    };
    for (const type of ["dragover", "dragleave", "drop"]) shell.addEventListener(type, over);
    shell.addEventListener("drop", (event) => this.files?.given(event, event.dataTransfer));
    return shell;
  }

  submit(event) {
    event?.preventDefault();
    const text = this.input.value.trim();
    if (this.isTooLong()) return;
    this.isSending = this.files?.isReady === false;
    if (this.isSending) return;
    const files = this.files?.take() ?? [];
    if (!text && !files.length) return;
    this.input.value = this.refused.textContent = "";
    this.toEnd();
    this.actions.write(text, files);
  }

  /** Reports a message over the limit instead of cutting it. Characters are counted as the server does, by code points. */
  isTooLong() {
    const count = [...this.input.value.trim()].length;
    const over = count - LONGEST;
    const shown = (number) => number.toLocaleString(this.language);
    const numbers = { count: shown(count), most: shown(LONGEST), over: shown(over) };
    this.long.textContent = over > 0 ? this.say("Too long: %(count)s of %(most)s characters. Remove %(over)s to send.", numbers) : "";
    this.input.setAttribute("aria-invalid", String(over > 0));
    return over > 0;
  }

  /** Covers the chat with a call, until it is put away. */
  async call() {
    if (this.shell.classList.contains("calling")) return;
    this.shell.classList.add("calling");
    try {
      await this.actions.call({ into: this.shell, language: this.language, onClose: () => this.called() });
    } catch {
      this.called();
      this.bar.textContent = this.say("The call couldn’t be connected. Try again in a moment, or write to us.");
      this.bar.hidden = false;
    }
  }

  called() {
    this.shell.classList.remove("calling");
    this.phone.focus();
  }

  open({ focus = true } = {}) {
    this.isOpen = true;
    this.toggle();
    this.log.toEnd();
    if (focus) this.input.focus();
    this.actions.opened();
  }

  close() {
    this.isOpen = false;
    this.toggle();
    this.launch.focus();
    this.actions.closed();
  }

  toggle() {
    this.shell.hidden = !this.isOpen;
    this.launch.hidden = this.isOpen;
    this.launch.setAttribute("aria-expanded", String(this.isOpen));
  }

  /** Escape closes the panel; Tab cycles within it. */
  keyed(event) {
    // The page's own keyboard shortcuts must not fire while somebody types here.
    event.stopPropagation();
    if (!this.isOpen) return;
    if (event.key === "Escape") this.close();
    if (event.key !== "Tab") return;
    const stops = [...this.shell.querySelectorAll(FOCUSABLE)].filter((element) => element.offsetParent !== null);
    const [first, last] = [stops[0], stops.at(-1)];
    const from = this.root.activeElement;
    const leaves = event.shiftKey ? from === first : from === last;
    if (!leaves) return;
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }

  toEnd() {
    this.log.toEnd();
    this.latest.hidden = true;
  }

  render(talk, { unread = 0 } = {}) {
    this.log.render(talk);
    if (this.isOpen) this.reader.read(talk);
    const offline = talk.offline && this.say("You’re offline. Messages go out when you’re back.");
    this.bar.textContent = offline || (talk.lost && this.say("Connection lost. Trying again.")) || "";
    this.bar.hidden = !this.bar.textContent;
    this.status.textContent = hasColleague(talk.ordered()) ? this.say("A colleague is replying") : this.say("Replies right away");
    this.dot.hidden = !unread;
    this.dot.textContent = unread || "";
    const label = [this.say("Chat with %(name)s"), unread && this.say("%(count)s unread", { count: unread })];
    this.launch.setAttribute("aria-label", label.filter(Boolean).join(", "));
  }
}

const initials = (name) => name.split(/\s+/).slice(0, 2).map((part) => part.slice(0, 1)).join("").toUpperCase();
