// Validates the draft on the server while it is edited.
import { h, icon, refill, state } from "../dom.js";
import { numbered } from "../format.js";
import { gettext, ngettext } from "../i18n.js";

const PAUSE_MS = 350;

export class Checking {
  constructor({ api, draft, nameOf, onResult }) {
    Object.assign(this, { api, draft, nameOf, onResult });
    this.visit = 0;
    draft.listen(() => this.soon());
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), PAUSE_MS);
  }

  /** Resolves once the newest text has been validated. */
  now() {
    clearTimeout(this.timer);
    return (this.newest = this.look());
  }

  async look() {
    const visit = (this.visit += 1);
    let found;
    try {
      found = await this.api.post("/tools/check", { name: this.nameOf(), text: this.draft.text });
    } catch (error) {
      // Saving reports connection errors.
      if (!error.status) return;
      found = { problems: [{ path: "", message: error.message, line: 1, column: 1 }], warnings: [] };
    }
    if (visit !== this.visit) return this.newest;
    const toned = (problems, tone) => problems.map((problem) => ({ ...problem, tone }));
    this.onResult([...toned(found.problems, "bad"), ...toned(found.warnings, "warn")]);
  }
}

/** The validation state next to the title. */
export function renderState(element, problems, { isNamed, isComplete }) {
  const errors = problems.filter(({ tone }) => tone === "bad").length;
  const warnings = problems.length - errors;
  refill(element, `${errors}:${warnings}:${isNamed}:${isComplete}`, () => {
    if (errors) return state("bad", "alert-circle", numbered(ngettext("%(number)s error", "%(number)s errors", errors), errors));
    if (warnings) return state("warn", "alert-triangle", numbered(ngettext("%(number)s warning", "%(number)s warnings", warnings), warnings));
    if (!isComplete) return state("mute", "circle-dashed", gettext("Incomplete"));
    if (!isNamed) return state("mute", "circle-dashed", gettext("Needs a name"));
    return state("ok", "check", gettext("Valid"));
  });
}

/** Shows problems that belong to no field. */
export const whole = (problems) =>
  problems.map(({ tone, message }) =>
    h(
      "div",
      { class: "mg-note", "data-s": tone },
      icon(tone === "bad" ? "alert-circle" : "alert-triangle"),
      h("div", {}, message),
    ),
  );
