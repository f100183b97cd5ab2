// The widget page: a live preview in the widget's own panel, without a server.
import { makeHost, Panel } from "../../widget/panel.js";
import { gettext } from "../i18n.js";
import { bindCopying } from "../people/copying.js";
import { bindDialogs } from "../people/dialogs.js";
import { palette } from "./palette.js";

const HEX = /^#[0-9a-f]{6}$/i;
const form = document.getElementById("widget-form");
const picker = document.getElementById("brand-picker");
const brand = form.elements["theme.brand"];
const agent = JSON.parse(document.getElementById("preview-agent").textContent);
const catalog = JSON.parse(document.getElementById("widget-catalog").textContent);
const stage = document.getElementById("preview");

const message = (id, role, content, blocks = []) => ({ id, seq: Number(id), role, content, blocks, turn: id });
// Sample conversation: shops show an order; others use their first opener with a neutral reply.
const order = { number: "2214", status: gettext("on its way"), items: [{ name: gettext("Gift card"), quantity: 2 }] };
const said = agent.capabilities.includes("order_status")
  ? [gettext("Where is my order?"), gettext("It’s on its way and arrives on Friday."), { type: "order_list", orders: [order] }]
  : [agent.asked || gettext("Hello, I have a question"), gettext("I’m looking into it. You can also talk to a person."), { type: "escalation_button", escalation: "1" }];
const talk = {
  ordered: () => [message("1", "user", said[0]), message("2", "agent", said[1], [said[2]])],
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
  const actions = { write() {}, upload: () => new Promise(() => {}), call: () => Promise.reject(new Error()), askForPerson() {}, hasAsked: () => false, known: () => "", opened() {}, closed() {} };
  const panel = new Panel({ ...makeHost(stage), agent: { ...agent, ...typed() }, base: location.origin, actions, catalog });
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
