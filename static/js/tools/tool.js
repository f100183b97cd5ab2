// A tool's page: editor, secrets, trial and rehearsal.
import { Api } from "../api.js";
import { h, note } from "../dom.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { Tabs } from "../tabs.js";
import { toaster } from "../toast.js";
import { Checking, renderState, whole } from "./checking.js";
import { resolveConflict } from "./conflict.js";
import { ask, sayRemoved, showSecret } from "./dialog.js";
import { Draft, pretty } from "./draft.js";
import { DefinitionForm } from "./form.js";
import { inWords } from "./form_fields.js";
import { JsonEditor } from "./json_editor.js";
import { PageForm } from "./page_form.js";
import { Rehearsal } from "./rehearsal.js";
import { Secrets } from "./secrets.js";
import { Trial } from "./trial.js";

const at = (id) => document.getElementById(id);
// A tool that has no name yet can be tried under this one.
const UNNAMED = "new_tool";
// The narrowest window in which form and JSON fit side by side.
const WIDE = "(min-width: 1100px)";

class Tool {
  constructor({ main, pane }) {
    const { api: base, project } = main.dataset;
    this.api = new Api({ base, project, csrf: document.querySelector("meta[name=csrf-token]").content });
    this.pane = pane;
    this.toast = toaster(at("toasts"));
    this.isNew = "new" in pane.dataset;
    this.canEdit = "canConfigure" in pane.dataset;
    this.confirmRemoval();
    const nameOf = () => this.name || UNNAMED;
    if ("custom" in pane.dataset && at("source")) this.edit();
    const drafts = async () => {
      if (!this.draft) return {};
      return (await this.isValid()) && { [nameOf()]: this.draft.document };
    };
    if (at("evaluate"))
      this.trial = new Trial({
        api: this.api,
        drafts,
        channel: pane.dataset.channel,
        nameOf,
        toast: this.toast,
      });
    if (at("rehearse"))
      new Rehearsal({
        api: this.api,
        nameOf,
        draft: this.draft,
        check: () => this.checking.now(),
        links: { playground: pane.dataset.playground },
      });
    if (at("secrets")) new Secrets({ api: this.api, name: this.name, toast: this.toast });
    this.openTab();
    document.addEventListener("keydown", (event) => this.pressed(event));
    if (this.draft && this.canEdit) offerKeys(["⌘ S", gettext("Save")]);
    if (this.trial) offerKeys(["⌘ ↵", gettext("Evaluate")]);
  }

  get name() {
    return this.isNew ? at("name").value.trim() : this.pane.dataset.name;
  }

  openTab() {
    if (!at("parts")) return;
    const tabs = new Tabs(at("parts"));
    const { tab } = this.pane.dataset;
    if (tab !== "definition" && tabs.tabs.some((one) => one.getAttribute("aria-controls") === tab)) tabs.open(tab);
  }

  edit() {
    this.draft = new Draft({ text: at("source").value, version: Number(this.pane.dataset.version) });
    this.editor = new JsonEditor({
      root: at("editor"),
      problems: at("problems"),
      caret: at("caret"),
      onChange: (text) => this.draft.write(text, this.editor),
    });
    this.form = new DefinitionForm({ root: at("form"), draft: this.draft, canEdit: this.canEdit });
    this.draft.listen((changed, from) => from !== this.editor && (this.editor.value = changed.text));
    this.draft.listen(() => this.changed());
    this.checking = new Checking({
      api: this.api,
      draft: this.draft,
      nameOf: () => this.name,
      onResult: (problems) => this.show(problems),
    });
    for (const button of at("view").children) button.addEventListener("click", () => this.view(button.value));
    at("tidy")?.addEventListener("click", () => this.tidy());
    at("save")?.addEventListener("click", () => this.save());
    at("name")?.addEventListener("input", () => this.checking.soon());
    at("project")?.addEventListener("change", () => this.moveTo(at("project").selectedOptions[0].dataset.slug));
    if (this.pane.dataset.form) this.pageForm = new PageForm({ form: at(this.pane.dataset.form), tool: this });
    this.view(this.pane.dataset.view === "both" && matchMedia(WIDE).matches ? "both" : "form");
    addEventListener("beforeunload", (event) => this.isUnsaved && event.preventDefault());
    this.checking.now();
  }

  get isUnsaved() {
    return this.canEdit && !this.isLeaving && this.draft.isChanged;
  }

  /** A new tool is checked and tried in the project that it will belong to. */
  moveTo(slug) {
    this.api.project = slug;
    this.checking.now();
  }

  view(name) {
    at("sides").dataset.view = name;
    for (const button of at("view").children) button.setAttribute("aria-pressed", String(button.value === name));
    if (name !== "form") this.editor.draw();
    this.show(this.draft.problems);
  }

  tidy() {
    if (this.draft.document) this.draft.write(pretty(this.draft.document), null);
    else this.toast.error(gettext("This isn’t valid JSON, so it can’t be formatted."));
  }

  changed() {
    at("saved").replaceChildren();
    if (at("save") && !this.pageForm) at("save").disabled = !this.isNew && !this.draft.isChanged;
  }

  show(problems) {
    this.draft.problems = problems;
    const isShown = (problem) => this.isTried || !this.isNew || !isUnfilled(this.draft.document, problem.path);
    const held = problems.filter((problem) => !isShown(problem));
    problems = problems.filter(isShown);
    const ofName = problems.filter(({ path }) => path === "name");
    const others = problems.filter(({ path }) => path !== "name");
    this.showName(ofName[0]);
    this.editor.show(others);
    const left = this.form.show(others);
    at("whole").replaceChildren(...whole(this.isFormShown ? left : []));
    renderState(at("check"), problems, { isNamed: Boolean(this.name), isComplete: !held.length });
  }

  showName(problem) {
    const field = at("name-problem");
    if (!field) return;
    field.hidden = !problem;
    field.textContent = problem?.message ?? "";
    at("name").setAttribute("aria-invalid", String(Boolean(problem)));
  }

  /** True once the newest text has a name and no mistakes; otherwise it says what is missing. */
  async isReady() {
    return this.name ? this.isValid() : this.askForName();
  }

  async isValid() {
    this.isTried = true;
    await this.checking.now();
    return this.draft.mistakes.length ? this.refuse() : true;
  }

  async save({ over = null } = {}) {
    if (!at("save") || this.saving) return;
    if (this.pageForm) return this.pageForm.submit();
    if (!(await this.isReady())) return;
    this.saving = true;
    at("save").disabled = true;
    try {
      const body = { definition: this.draft.document, expected_version: over ?? this.draft.version };
      this.saved(await this.api.put(`/custom-tools/${encodeURIComponent(this.name)}`, body));
    } catch (error) {
      await this.failed(error);
    } finally {
      this.saving = false;
      this.changed();
    }
  }

  askForName() {
    at("name").focus();
    this.showName({ message: gettext("Enter a name, such as notify_kitchen_tool.") });
    return false;
  }

  refuse() {
    this.toast.error(inWords(this.draft.mistakes[0]));
    const wrong = this.isFormShown && document.querySelector("#form [aria-invalid]");
    if (wrong) wrong.focus();
    else if (!this.isFormShown) this.editor.goTo(this.editor.problems[0] ?? { line: 1, column: 1 });
    return false;
  }

  get isFormShown() {
    return at("sides").dataset.view !== "json";
  }

  /** The version that someone else saved since this page was loaded, or null. */
  async newer() {
    if (this.isNew) return null;
    const saved = await this.api.get(`/custom-tools/${encodeURIComponent(this.name)}`).catch(() => null);
    return saved && saved.version !== this.draft.version ? saved : null;
  }

  async saved(tool) {
    this.draft.wasSaved(tool);
    if (tool.signing_secret) await showSecret(tool.signing_secret);
    if (tool.removed_headers.length) await sayRemoved(tool.removed_headers);
    this.isLeaving = true;
    if (this.isNew) location.assign(`${this.pane.dataset.address}/${encodeURIComponent(tool.name)}?saved=1`);
    else location.reload();
  }

  async failed(error) {
    if (error.code !== "stale_version") {
      at("saved").replaceChildren(note("bad", "alert-circle", gettext("Not saved."), error.message));
      return;
    }
    const theirs = await this.api.get(`/custom-tools/${encodeURIComponent(this.name)}`).catch(() => null);
    if (!theirs) {
      at("saved").replaceChildren(
        note(
          "warn",
          "alert-triangle",
          gettext("This tool was removed."),
          gettext("Restore it from its history, or save this as a new tool."),
        ),
      );
      return;
    }
    const choice = await resolveConflict({ message: error.message, theirs, mine: this.draft.document });
    this.saving = false;
    if (choice === "mine") await this.save({ over: theirs.version });
    else if (choice === "theirs") (this.draft.wasSaved(theirs), this.checking.now());
  }

  confirmRemoval() {
    for (const form of document.querySelectorAll("[data-confirms]"))
      form.addEventListener("submit", (event) => {
        if (form.dataset.sure) return;
        event.preventDefault();
        at("more").hidePopover();
        this.confirm(form);
      });
  }

  /** Asks for confirmation before turning off or removing a tool, and lists the scenario steps that use it. */
  async confirm(form) {
    const named = at("named")?.content.cloneNode(true) ?? "";
    const answer = await ask({
      title: form.dataset.confirms,
      content: h("div", { class: "mg-stack" }, h("p", {}, form.dataset.because), named),
      buttons: [
        ["", gettext("Keep"), "btn-quiet"],
        ["sure", form.dataset.does, "btn-danger-quiet"],
      ],
    });
    // Reset the switch.
    if (answer !== "sure") return form.reset();
    form.dataset.sure = "yes";
    this.isLeaving = true;
    form.requestSubmit();
  }

  pressed(event) {
    if (!(event.metaKey || event.ctrlKey) || event.altKey) return;
    if (event.key.toLowerCase() === "s" && this.draft && this.canEdit) {
      event.preventDefault();
      this.save();
    } else if (event.key === "Enter" && this.trial) {
      event.preventDefault();
      this.trial.evaluate();
    }
  }
}

/** True for an empty field of a new tool. Its problem is shown once someone tries to save. */
function isUnfilled(definition, path) {
  const value = path.split(".").reduce((part, name) => part?.[name], definition);
  return path !== "" && path !== "name" && (value === undefined || value === "");
}

const pane = at("tool");
if (pane) new Tool({ main: at("main"), pane });
