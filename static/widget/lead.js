// The form for contact details of a visitor who wants a person.
import { h } from "./dom.js";
import { randomKey } from "./timing.js";
import { phrase } from "./words.js";

const FIELDS = [
  { name: "name", label: phrase("Name"), type: "text", autocomplete: "name", maxlength: 80, required: true },
  { name: "email", label: phrase("E-mail"), type: "email", autocomplete: "email", maxlength: 254 },
  { name: "phone", label: phrase("Phone (optional)"), type: "tel", autocomplete: "tel", maxlength: 40 },
  { name: "note", label: phrase("What is it about? (optional)"), type: "text", autocomplete: "off", maxlength: 1000 },
];
let forms = 0;

export function leadForm(context, { escalation, onDone, onCancel }) {
  const id = `lead${++forms}`;
  const problem = h("p", { class: "problem", role: "alert" });
  // One idempotency key per content, however often it is sent.
  const keys = new Map();
  const send = h("button", { class: "go" }, context.say("Ask for a person"));
  const form = h(
    "form",
    { class: "lead", novalidate: true, "aria-label": context.say("Talk to a person") },
    h("p", {}, context.say("Leave your name and contact. A colleague will reply here or get back to you.")),
    FIELDS.map(({ label, ...field }) => h("label", {}, h("span", {}, context.say(label)), h("input", { ...field, id: `${id}-${field.name}`, dir: "auto", value: context.known(field.name) }))),
    problem,
    h("div", { class: "acts" }, h("button", { type: "button", onclick: onCancel }, context.say("Cancel")), send),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const lead = Object.fromEntries(FIELDS.map(({ name }) => [name, form.elements[name].value.trim()]));
    const wrong = firstProblem(lead, form);
    if (wrong) return refuse(context.say(wrong.words), wrong.field);
    const said = JSON.stringify(lead);
    if (!keys.has(said)) keys.set(said, randomKey());
    send.disabled = true;
    try {
      await context.askForPerson({ escalation, lead }, keys.get(said));
      onDone();
    } catch (error) {
      send.disabled = false;
      refuse(error.status ? error.message : context.say("Not sent: no connection. Try again."), error.field?.split(".").at(-1));
    }
  });

  function refuse(sentence, field) {
    problem.textContent = sentence;
    for (const { name } of FIELDS) form.elements[name].setAttribute("aria-invalid", String(name === field));
    (form.elements[field] ?? form.elements.name).focus();
  }
  return form;
}

function firstProblem(lead, form) {
  if (!lead.name) return { words: phrase("Enter your name."), field: "name" };
  if (!lead.email && !lead.phone) return { words: phrase("Enter an e-mail address or a phone number."), field: "email" };
  if (!form.elements.email.checkValidity()) return { words: phrase("Enter a full e-mail address, like anna@example.com."), field: "email" };
  return null;
}
