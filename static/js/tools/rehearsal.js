// The rehearsal: runs the edited tool on the latest replies and streams the verdicts that change.
import { h, icon, note, state } from "../dom.js";
import * as format from "../format.js";
import { fill, gettext, ngettext } from "../i18n.js";
import { mark, marked, place } from "../marks.js";
import { reading } from "../turn.js";

const at = (id) => document.getElementById(id);
const KINDS = {
  fires: ["ok", "bolt", gettext("Would fire")],
  fires_no_more: ["bad", "circle-x", gettext("Would no longer fire")],
  other_rule: ["mute", "arrows-split-2", gettext("Held back for another reason")],
};

export class Rehearsal {
  constructor({ api, nameOf, draft, check, links }) {
    Object.assign(this, { api, nameOf, draft, check, links });
    at("rehearse").addEventListener("click", () => this.start());
    at("rehearse-stop").addEventListener("click", () => this.stopper?.abort());
  }

  async start() {
    await this.check();
    if (!this.draft.document || this.draft.mistakes.length)
      return this.tell(
        note(
          "bad",
          "alert-circle",
          gettext("The definition has errors."),
          gettext("Fix them under Definition, then rehearse."),
        ),
      );
    this.stopper = new AbortController();
    this.total = this.done = this.changed = this.failed = 0;
    this.list = null;
    this.running(true);
    this.tell(h("p", { class: "t2" }, state("act", "loader-2", gettext("Reading")), gettext(" the latest replies…")));
    try {
      const body = { tools: { tools: { [this.nameOf()]: this.draft.document } }, turns: Number(at("turns").value) };
      await this.api.lines("/tools/rehearse", body, { signal: this.stopper.signal, onLine: (line) => this.took(line) });
      this.finish();
    } catch (error) {
      if (this.stopper.signal.aborted) this.finish({ isStopped: true });
      else this.tell(note("bad", "alert-circle", gettext("The rehearsal stopped."), error.message));
    } finally {
      this.running(false);
    }
  }

  running(isRunning) {
    at("rehearse").disabled = isRunning;
    at("rehearse-stop").hidden = !isRunning;
    at("rehearsal-progress").hidden = !isRunning;
  }

  tell(...nodes) {
    at("rehearsal-result").replaceChildren(...nodes);
  }

  /** The first line holds the number of replies; each further line is one result. */
  took(line) {
    if ("turns" in line) this.total = line.turns;
    else {
      this.done += 1;
      if (line.error) this.failed += 1;
      if (line.differences.length) this.add(line);
    }
    at("rehearsal-bar").max = Math.max(1, this.total);
    at("rehearsal-bar").value = this.done;
    at("rehearsal-count").textContent = fill(gettext("%(number)s of %(total)s"), { number: this.done, total: this.total });
  }

  add(line) {
    this.changed += 1;
    if (!this.list) {
      this.list = h("ol", { class: "tl-changes" });
      this.tell(h("div", { class: "mg-panel" }, this.list));
    }
    this.list.append(this.row(line));
  }

  finish({ isStopped = false } = {}) {
    const number = this.done;
    const read = isStopped
      ? fill(gettext("%(number)s of %(total)s replies read, then stopped."), { number, total: this.total })
      : fill(ngettext("%(number)s reply read.", "%(number)s replies read.", number), { number });
    const summary = this.changed
      ? note(
          "warn",
          "arrows-split-2",
          format.numbered(
            ngettext(
              "%(number)s reply would get a different verdict.",
              gettext("%(number)s replies would get a different verdict."),
              this.changed,
            ),
            this.changed,
          ),
          read,
        )
      : this.done
        ? note("ok", "circle-check", gettext("No verdict would change."), read)
        : note(
            "mute",
            "history",
            gettext("No replies to rehearse on."),
            gettext("Talk to the agent in the playground first."),
          );
    const failed =
      this.failed > 0 &&
      note(
        "bad",
        "alert-triangle",
        format.numbered(
          ngettext("%(number)s reply couldn’t be evaluated.", "%(number)s replies couldn’t be evaluated.", this.failed),
          this.failed,
        ),
        gettext("The model gave no usable response. Try again in a moment."),
      );
    this.tell(...[summary, failed, this.list && h("div", { class: "mg-panel" }, this.list)].filter(Boolean));
  }

  row({ conversation, turn, seq, answer, replied_at: replied, differences }) {
    const rows = differences.map((one) => ({ ...one, quote: (one.after ?? one.before).quote }));
    const words = marked(answer, place(answer, rows), (span, text, after) => [
      mark({ tone: KINDS[span.rows[0].kind][0], words: text }),
      after,
    ]);
    return h(
      "li",
      { "data-changed": rows[0].kind },
      h("p", { class: "mg-reading", dir: "auto" }, words),
      h(
        "a",
        { class: "ts nw", title: format.moment(replied), href: `${this.links.playground}?conversation=${conversation}&turn=${turn}` },
        fill(gettext("Turn %(turn)s, %(time)s"), { turn: seq, time: format.ago(replied) }),
      ),
      h("div", { class: "tl-from mg-stack" }, rows.map(difference)),
    );
  }
}

function difference({ tool, kind, before, after }) {
  return h(
    "div",
    { class: "mg-flow ts" },
    state(...KINDS[kind]),
    h("code", {}, tool),
    h("span", { class: "t3" }, gettext("then")),
    verdict(before),
    icon("chevron-right"),
    h("span", { class: "t3" }, gettext("now")),
    verdict(after),
  );
}

function verdict(one) {
  if (!one) return state("mute", "circle-dotted", gettext("not mentioned"));
  const { tone, icon: name, word, gloss } = reading(one);
  return state(tone, name, gloss ? `${word}: ${gloss}` : word);
}
