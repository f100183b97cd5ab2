// The drawer below the model calls: a call's prompt, split at its tags, and the response.
import { h, icon, note } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";

const TAG = /<([A-Z][A-Za-z]+)(?:\s[^>]*)?>[\s\S]*?<\/\1>/g;

export class Prompt {
  constructor({ element, api, toast }) {
    Object.assign(this, { element, api, toast });
    this.close();
  }

  close() {
    this.callId = null;
    this.turnId = null;
    this.element.replaceChildren();
  }

  async open({ turnId, call, name, onChange }) {
    Object.assign(this, { turnId, callId: call.id });
    this.element.replaceChildren(
      h(
        "div",
        { class: "pg-prompt cp-sk mg-stack", role: "status", "aria-busy": "true", "aria-label": gettext("Loading the prompt") },
        h("i", {}),
        h("i", {}),
        h("i", {}),
      ),
    );
    onChange();
    try {
      const whole = await this.api.get(`/model-calls/${call.id}`);
      if (this.callId === call.id) this.show(whole, name);
    } catch (error) {
      if (this.callId === call.id)
        this.element.replaceChildren(
          h("div", { class: "pg-pad" }, note("bad", "alert-triangle", gettext("The prompt couldn’t be loaded."), error.message)),
        );
    }
  }

  show(call, name) {
    const parts = partsOf(call);
    const body = h("pre", { tabindex: "0", dir: "auto" });
    const links = parts.map((part) =>
      h(
        "button",
        { type: "button", onclick: (event) => choose(event.currentTarget, part) },
        part.name,
        h("span", { class: "mg-n", title: format.numbered(ngettext("%(number)s character", "%(number)s characters", part.text.length), part.text.length) }, size(part.text.length)),
      ),
    );
    const choose = (link, part) => {
      for (const other of links) other.toggleAttribute("aria-current", false);
      link.setAttribute("aria-current", "true");
      body.textContent = part.text;
    };
    choose(links[0], parts[0]);
    const title = fill(gettext("Prompt: %(name)s"), { name });
    const copy = h(
      "button",
      { type: "button", class: "btn btn-bare btn-sm ml", onclick: () => this.copy(call) },
      icon("copy"),
      gettext("Copy"),
    );
    this.element.replaceChildren(
      h(
        "section",
        { class: "pg-prompt", "aria-label": title },
        h("header", {}, h("b", { class: "tb" }, title), h("span", { class: "t3" }, facts(call)), copy),
        h("div", { class: "pg-parts" }, h("nav", { "aria-label": gettext("Parts of the prompt") }, links), body),
      ),
    );
    this.element.scrollIntoView({ block: "nearest" });
  }

  async copy(call) {
    const text = call.messages.map(({ role, content }) => `# ${role}\n\n${content}`).join("\n\n");
    try {
      await navigator.clipboard.writeText(text);
      this.toast(gettext("The whole prompt is on the clipboard."));
    } catch {
      this.toast.error(gettext("The browser doesn’t allow copying here. Select the text and copy it by hand."));
    }
  }
}

function facts({ input_tokens: input, cached_tokens: cached, template_hash: hash }) {
  return [
    format.numbered(ngettext("%(number)s token", "%(number)s tokens", input), input),
    cached && fill(gettext("%(number)s of them from the cache"), { number: format.count(cached) }),
    hash && fill(gettext("template %(hash)s"), { hash: hash.slice(0, 8) }),
  ]
    .filter(Boolean)
    .join(", ");
}

/** [{name, text}]: text outside tags by role, tags by name, the response last. */
function partsOf({ messages, output, tool_calls: calls }) {
  const parts = messages
    .filter(({ role }) => role === "system")
    .flatMap(({ role, content }) => cut(role, content ?? ""));
  const spoken = messages.filter(({ role }) => role !== "system");
  // The request is the last user message; after it come this reply's tool calls and results.
  const asked = spoken.findLastIndex(({ role }) => role === "user");
  const history = spoken.slice(0, Math.max(asked, 0)).map(lineOf);
  if (history.length) parts.push({ name: gettext("Conversation"), text: history.join("\n\n") });
  parts.push(...spoken.slice(Math.max(asked, 0), asked + 1).flatMap(({ role, content }) => cut(role, content ?? "")));
  const called = spoken.slice(asked + 1).map(lineOf);
  if (called.length) parts.push({ name: gettext("Tool calls"), text: called.join("\n\n") });
  return [...parts, { name: gettext("Response"), text: answerOf(output, calls) }];
}

const lineOf = ({ role, content, tool_calls: calls }) =>
  [`${role}: ${content ?? ""}`, ...(calls ?? []).map(({ function: use }) => `calls ${use.name}(${use.arguments})`)].join("\n");

const answerOf = (output, calls) =>
  [output, ...(calls ?? []).map(({ name, arguments: asked }) => `calls ${name}(${asked})`)].filter(Boolean).join("\n") ||
  gettext("Nothing was written.");

function cut(role, content) {
  const parts = [];
  let from = 0;
  const outside = (text) =>
    text.trim() &&
    parts.push({ name: { system: gettext("Instructions"), user: gettext("Request") }[role] ?? format.words(role), text: text.trim() });
  for (const match of content.matchAll(TAG)) {
    outside(content.slice(from, match.index));
    parts.push({ name: match[1].replace(/(?<=[a-z])(?=[A-Z])/g, " "), text: match[0] });
    from = match.index + match[0].length;
  }
  outside(content.slice(from));
  return parts;
}

const size = (characters) => (characters < 1000 ? String(characters) : `${(characters / 1000).toFixed(1)}k`);
