// The staff's view of widget blocks.
import { h, icon } from "./dom.js";
import * as format from "./format.js";
import { gettext, ngettext } from "./i18n.js";

const RENDERERS = {
  escalation_button: ({ label, reason }) => [icon("message-user"), h("b", {}, label || gettext("Talk to a person")), small(reason)],
  template: ({ template }) => [icon("message-bolt"), h("b", {}, template?.name ?? gettext("Template")), small(template?.language?.code)],
  article_card: ({ title, excerpt }) => [icon("file-text"), h("b", {}, title), small(excerpt)],
  order_list: ({ orders }) => [
    icon("checklist"),
    h("b", {}, format.numbered(ngettext("%(number)s order", "%(number)s orders", (orders ?? []).length), (orders ?? []).length)),
    (orders ?? []).map((order) => small(`${order.number}, ${order.status}, ${order.total ?? ""}`)),
  ],
};

const small = (text) => text && h("small", { dir: "auto" }, String(text));

/** The blocks of a reply; unknown types are shown by name. */
export const cards = (blocks) =>
  (blocks ?? []).map((block) =>
    h(
      "div",
      { class: "pg-block", "data-block": block.type },
      RENDERERS[block.type]?.(block) ?? [icon("layout-columns"), h("b", {}, format.words(block.type ?? "block"))],
    ),
  );
