// Tabs by the ARIA pattern: arrows, Home and End move; one tab stop.
export class Tabs {
  constructor(list) {
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.select(tab));
      tab.addEventListener("keydown", (event) => this.pressed(event));
    }
  }

  pressed(event) {
    const index = this.tabs.indexOf(event.currentTarget);
    const last = this.tabs.length - 1;
    const next = {
      ArrowRight: index === last ? 0 : index + 1,
      ArrowLeft: index === 0 ? last : index - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.select(this.tabs[next]);
    this.tabs[next].focus();
  }

  select(chosen) {
    for (const tab of this.tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
  }

  open(panel) {
    this.select(this.tabs.find((tab) => tab.getAttribute("aria-controls") === panel));
  }

  /** The count next to a tab's name. */
  count(panel, text) {
    this.tabs.find((tab) => tab.getAttribute("aria-controls") === panel).querySelector(".mg-n").textContent = text;
  }
}
