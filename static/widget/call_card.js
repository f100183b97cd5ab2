// The card of a call: its state, its duration, its buttons, and what was said.
import { CALL_CSS } from "./call_style.js";
import { drawn, h } from "./dom.js";

// Tabler icons (MIT), as paths in a 24 by 24 box.
const CALL_ICONS = {
  mute: "M9 5a3 3 0 0 1 6 0v5a3 3 0 0 1 -.13 .874m-2 2a3 3 0 0 1 -3.87 -2.872v-1M5 10a7 7 0 0 0 10.846 5.85m2 -2a6.967 6.967 0 0 0 1.152 -3.85M8 21h8M12 17v4M3 3l18 18",
  end: "M5 4h4l2 5l-2.5 1.5a11 11 0 0 0 5 5l1.5 -2.5l5 2v4a2 2 0 0 1 -2 2c-8.072 -.49 -14.51 -6.928 -15 -15a2 2 0 0 1 2 -2M17 3l4 4M21 3l-4 4",
};
let sheet;

export class CallCard {
  constructor({ into, say, name, onMute, onHangUp, onAgain, onClose }) {
    Object.assign(this, { say, name, onMute, seen: new Set(), isMuted: false });
    this.state = h("p", { class: "mgc-state", role: "status" });
    this.clock = h("span", { class: "mgc-clock", role: "timer", "aria-label": say("Duration") });
    this.lines = h("div", { class: "mgc-lines", role: "log", "aria-live": "off", "aria-label": say("Transcript"), tabindex: "0" });
    this.problem = h("p", { class: "mgc-problem", role: "alert" });
    this.muteButton = h("button", { type: "button", class: "mgc-mute", "aria-pressed": "false", onclick: () => this.toggleMute() }, drawn(CALL_ICONS.mute), say("Mute"));
    this.endButton = h("button", { type: "button", class: "mgc-end", onclick: onHangUp }, drawn(CALL_ICONS.end), say("Hang up"));
    this.againButton = h("button", { type: "button", class: "mgc-again", onclick: onAgain }, say("Call again"));
    this.closeButton = h("button", { type: "button", class: "mgc-close", onclick: onClose }, say("Close"));
    this.audio = h("audio", { autoplay: true, hidden: true });
    this.element = h(
      "section",
      { class: "mgc", "aria-label": say("Call with %(name)s") },
      h("div", { class: "mgc-head" }, this.state, this.clock),
      this.lines,
      this.problem,
      h("div", { class: "mgc-acts" }, this.muteButton, this.endButton, this.againButton, this.closeButton),
      this.audio,
    );
    into.append(this.element);
    style(into.getRootNode());
  }

  /** Clears the card for a new call. */
  reset() {
    this.seen.clear();
    this.lines.replaceChildren();
    this.problem.replaceChildren();
    this.clock.textContent = "";
    this.setMuted(false);
    this.show("asking");
    this.endButton.focus();
  }

  show(state) {
    this.state.textContent = { asking: this.say("Allow the microphone to start the call."), connecting: this.say("Connecting…"), live: this.say("In a call"), over: this.say("Call ended") }[state];
    const isOver = state === "over";
    this.muteButton.hidden = state !== "live";
    this.endButton.hidden = isOver;
    this.againButton.hidden = this.closeButton.hidden = !isOver;
    if (state === "live") this.startClock();
    else clearInterval(this.ticking);
  }

  startClock() {
    const began = Date.now();
    const tick = () => {
      const seconds = Math.floor((Date.now() - began) / 1000);
      this.clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    };
    this.ticking = setInterval(tick, 1000);
    tick();
  }

  /** Shows the end, with what went wrong and the number where the call goes on. */
  end(problem, { number } = {}) {
    this.show("over");
    this.audio.srcObject = null;
    if (problem) this.problem.replaceChildren(this.say(problem), number ? h("a", { href: `tel:${number}`, dir: "ltr" }, number) : "");
    const hasFocus = this.element.getRootNode().activeElement;
    if (!hasFocus || this.element.contains(hasFocus) || hasFocus === document.body) this.againButton.focus();
  }

  play(stream) {
    this.audio.srcObject = stream;
  }

  toggleMute() {
    this.setMuted(!this.isMuted);
    this.onMute(this.isMuted);
  }

  setMuted(isMuted) {
    this.isMuted = isMuted;
    this.muteButton.setAttribute("aria-pressed", String(isMuted));
  }

  /** Adds what was said, once. */
  line({ id, role, content }) {
    if (this.seen.has(id) || !content || !["user", "agent", "operator"].includes(role)) return;
    this.seen.add(id);
    const who = role === "user" ? this.say("You") : this.name;
    this.lines.append(h("p", { "data-role": role }, h("b", {}, h("bdi", {}, who)), h("span", { dir: "auto" }, content)));
    this.lines.scrollTop = this.lines.scrollHeight;
  }

  remove() {
    clearInterval(this.ticking);
    this.element.remove();
  }
}

/** Adds the card's styles to its document or shadow tree, once. */
function style(root) {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CALL_CSS);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
