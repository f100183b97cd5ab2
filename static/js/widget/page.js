// The page of the widget: what is chosen is seen at once, in the widget's own panel, which asks no server here.
import { makeHost, Panel } from "../../widget/panel.js";
import { bindCopying } from "../people/copying.js";
import { bindDialogs } from "../people/dialogs.js";
import { palette } from "./palette.js";

const HEX = /^#[0-9a-f]{6}$/i;
const form = document.getElementById("widget-form");
const picker = document.getElementById("brand-picker");
const brand = form.elements["theme.brand"];
const agent = JSON.parse(document.getElementById("preview-agent").textContent);
const stage = document.getElementById("preview");

const message = (id, role, content, blocks = []) => ({ id, seq: Number(id), role, content, blocks, turn: id });
const talk = {
  ordered: () => [
    message("1", "user", "Where is my order?"),
    message("2", "agent", "It is on its way, and arrives on Friday.", [
      { type: "order_list", orders: [{ number: "2214", status: "on its way", items: [{ name: "Olio nuovo", quantity: 2 }] }] },
    ]),
  ],
  drafts: new Map(),
  outbox: [],
};

function typed() {
  const value = (name) => form.elements[`theme.${name}`].value;
  const colours = HEX.test(value("brand")) ? palette(value("brand").toLowerCase()) : agent.theme;
  return { greeting: value("greeting").trim(), language: value("language"), theme: { ...colours, position: value("position"), scheme: value("scheme") } };
}

function draw() {
  stage.replaceChildren();
  const actions = { write() {}, askForPerson() {}, hasAsked: () => false, opened() {}, closed() {} };
  const panel = new Panel({ ...makeHost(stage), agent: { ...agent, ...typed() }, base: location.origin, actions });
  panel.open({ focus: false });
  panel.render(talk);
}

picker.addEventListener("input", () => {
  brand.value = picker.value;
  draw();
});
brand.addEventListener("input", () => {
  if (HEX.test(brand.value)) picker.value = brand.value.toLowerCase();
});
form.addEventListener("input", draw);
bindCopying();
bindDialogs();
draw();
