// Loaded in the head, not deferred. Starts the page's modules after its first paint, which they would delay; holds clicks,
// keys, files and changes of fields until they have run; and has a form sent once.
(() => {
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  const PRESSED = "a[href], button, summary, input[type=checkbox]";
  const FOLLOWING = ["Enter", "Escape", "Backspace", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End"];
  // The longest wait for the first paint, from the end of parsing
  const UNPAINTED_MS = 500;
  // After this the response was lost, or was a download.
  const FORGOTTEN_MS = 10_000;
  // What to do again, by the button that was clicked, or by the event of a key
  const held = new Map();
  let isStarted = false;
  // The fields that changed, with the types of their events
  const changes = new Map();

  function hold(event, what, again) {
    event.preventDefault();
    event.stopImmediatePropagation();
    held.set(what, again);
  }

  /** Links, checkboxes and menus work without scripts. */
  function clicked(event) {
    const button = event.target.closest("button:not([popovertarget])");
    if (button) hold(event, button, () => button.click());
  }

  /** Shortcuts: single keys, Esc, ⌘ K, ⌘ S, ⌘ ↵, and ↵ where it sends. Typing and moving the focus work without scripts, until
   * something is held: what is pressed after a shortcut goes where the shortcut leads. */
  function pressed(event) {
    const { key, target } = event;
    if (event.isComposing) return;
    // The browser closes what is open.
    const goesBack = key === "Escape" && !document.querySelector(":modal, :popover-open");
    const isCommand = (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");
    const isCharacter = key.length === 1 && !isCommand && (!event.altKey || event.getModifierState("AltGraph"));
    const isShortcut = isCommand ? ["k", "s", "Enter"].includes(key) : isCharacter && key !== " " && !target.closest(TYPING);
    const sends = key === "Enter" && !event.shiftKey && target.matches("[enterkeyhint=send]");
    // A field without a caret, such as one for a number, takes no characters from a script.
    const isTakable = !target.closest(TYPING) || typeof target.selectionStart === "number";
    const follows = held.size > 0 && isTakable && (isCharacter || FOLLOWING.includes(key));
    if (isShortcut || goesBack || sends || follows) hold(event, event, () => press(event, isCharacter));
  }

  /** Does what the browser does after a key, unless a script has done something else. */
  function press(event, isCharacter) {
    const target = document.activeElement ?? document.body;
    if (!target.dispatchEvent(new KeyboardEvent("keydown", event))) return;
    if (event.key === "Escape") target.closest("dialog")?.close();
    const isText = typeof target.selectionStart === "number";
    if (isText && (isCharacter || event.key === "Backspace")) type(target, isCharacter ? event.key : "");
    else if (isText && event.key === "Enter" && target.matches("textarea")) type(target, "\n");
    else if (isText && event.key === "Enter") target.form?.requestSubmit();
    else if (["Enter", " "].includes(event.key) && target.matches(PRESSED)) target.click();
  }

  /** Replaces what is selected, or the character before the caret if the text is empty. */
  function type(field, text) {
    const { selectionStart: from, selectionEnd: to } = field;
    field.setRangeText(text, text || from !== to ? from : Math.max(0, from - 1), to, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Files that are pasted or dropped. The event's own are gone by the time the modules run. */
  function given(event) {
    const files = [...((event.clipboardData ?? event.dataTransfer)?.files ?? [])];
    const { type: kind, target } = event;
    if (!files.length || target.matches?.("[type=file]")) return;
    const data = new DataTransfer();
    for (const file of files) data.items.add(file);
    const again = kind === "paste" ? new ClipboardEvent(kind, { bubbles: true, cancelable: true, clipboardData: data }) : new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data });
    hold(event, event, () => target.dispatchEvent(again));
  }

  /** The browser would open a file that is dropped beside the fields in place of the page. */
  function keepPage(event) {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files") || event.target.matches?.("[type=file]")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = isStarted ? "none" : "copy";
  }

  /** Fields change without scripts, which learn of it when they run. */
  function changed({ target, type }) {
    changes.set(target, (changes.get(target) ?? new Set()).add(type));
  }

  /** Otherwise a click would be lost, or a form submitted without the script that packs or confirms it. */
  function release() {
    for (const [type, hears] of LISTENERS) document.removeEventListener(type, hears, true);
    for (const link of links()) link.remove();
    for (const [field, types] of changes)
      for (const type of types) field.dispatchEvent(new Event(type, { bubbles: true }));
    for (const again of held.values()) again();
    isStarted = true;
  }

  /** The modules of the page, until they have run. */
  function links() {
    return [...document.querySelectorAll("link[rel=mg-module]")];
  }

  /** Modules run in the order of their links. A link with a type of its own is to a script, as Django's catalog is. */
  function startModules() {
    const scripts = links().map(({ href, type }) =>
      Object.assign(document.createElement("script"), { type: type || "module", async: false, src: href }),
    );
    const last = scripts.at(-1);
    if (!last) return release();
    last.onload = last.onerror = release;
    document.head.append(...scripts);
  }

  /** Nothing is painted in a tab in the background. */
  function startOncePainted() {
    if (document.hidden) return startModules();
    const painted = new PerformanceObserver(start);
    painted.observe({ type: "paint", buffered: true });
    const timer = setTimeout(start, UNPAINTED_MS);

    function start() {
      painted.disconnect();
      clearTimeout(timer);
      startModules();
    }
  }

  const LISTENERS = Object.entries({ click: clicked, keydown: pressed, input: changed, change: changed, paste: given, drop: given });
  for (const [type, hears] of LISTENERS) document.addEventListener(type, hears, true);
  document.addEventListener("DOMContentLoaded", startOncePainted);
  for (const type of ["dragover", "drop"]) addEventListener(type, keepPage);

  function forget(form) {
    delete form.dataset.sent;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Skip forms sent by scripts, which guard themselves, and selects that submit on change.
    const mayChange = form.matches("[data-submits]") || event.submitter?.matches("[data-again]");
    if (event.defaultPrevented || form.method !== "post" || mayChange) return;
    if ("sent" in form.dataset) return void event.preventDefault();
    form.dataset.sent = "";
    setTimeout(() => forget(form), FORGOTTEN_MS);
  });
  // Allow resubmission after navigating back.
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(forget));
})();
