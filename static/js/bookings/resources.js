// Each row is its own form. Unsaved input in the other rows, or in a refused one, is restored after the page reloads.
import * as storage from "../storage.js";

const KEY = `mg-rows:${location.pathname}`;
const rows = [...document.querySelectorAll("form[data-row]")];
const boxes = (row) => [...row.elements].filter((one) => one.name && one.type !== "hidden");
const isBox = (one) => one.type === "checkbox";
const typed = (one) => (isBox(one) ? one.checked : one.value);

function begun(one) {
  if (isBox(one)) return one.defaultChecked;
  return one.options ? [...one.options].find((option) => option.defaultSelected)?.value : one.defaultValue;
}

function keep({ target }) {
  if (!target.closest("#main")) return;
  const changed = rows.filter((row) => boxes(row).some((one) => typed(one) !== begun(one)));
  const values = changed.map((row) => [row.action, Object.fromEntries(boxes(row).map((one) => [one.name, typed(one)]))]);
  storage.write("sessionStorage", KEY, JSON.stringify({ sent: target.action, values }));
}

function putBack() {
  const { sent, values } = JSON.parse(storage.read("sessionStorage", KEY) ?? '{"values": []}');
  storage.write("sessionStorage", KEY, null);
  for (const [action, value] of values) {
    const row = rows.find((one) => one.action === action);
    if (!row || (action === sent && !row.querySelector(".form-err"))) continue;
    for (const one of boxes(row)) one[isBox(one) ? "checked" : "value"] = value[one.name];
  }
}

putBack();
document.addEventListener("submit", keep);
