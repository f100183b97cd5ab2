// The todo list: bulk selection and live updates.
import { h, whenReleased } from "../dom.js";
import { fill, gettext, ngettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { toaster } from "../toast.js";
import { Live } from "./live.js";
import { parsed, swapCount } from "./swap.js";

const PARTS = ["states", "choosing", "pages"];
const root = document.getElementById("todos");
const toast = toaster(document.getElementById("toasts"));
const boxes = () => [...root.querySelectorAll("[name=choice]")];
const idOf = (box) => box.value.split(":")[0];

function count() {
  const [approve, reject, every] = ["approve-chosen", "reject-chosen", "every"].map((id) => document.getElementById(id));
  if (!approve) return;
  const [all, chosen] = [boxes(), boxes().filter((box) => box.checked)];
  const ticked = chosen.length;
  offer(approve, chosen.filter((box) => "approvable" in box.dataset).length);
  offer(reject, ticked);
  every.closest("[data-every]").hidden = false;
  every.checked = ticked === all.length;
  every.indeterminate = ticked > 0 && ticked < all.length;
}

function offer(button, number) {
  button.hidden = false;
  button.disabled = !number;
  button.querySelector("[data-count]").textContent = number || "";
}

/** Loads the current page. A todo stays selected only if it hasn't changed since. */
async function refresh() {
  const shown = location.href;
  const response = await fetch(shown, { credentials: "same-origin" }).catch(() => null);
  if (!response?.ok || shown !== location.href) return;
  const page = parsed(await response.text());
  whenReleased(() => replace(page));
}

function replace(page) {
  const fresh = page.getElementById(root.id);
  const both = (id) => [document.getElementById(id), page.getElementById(id)];
  // Reload if the page's structure changed, such as with the first todo.
  if (!fresh || PARTS.some((id) => !both(id).every(Boolean))) return location.reload();
  const [ticked, focused] = [boxes().filter((box) => box.checked).map((box) => box.value), known(document.activeElement)];
  for (const [part, other] of PARTS.map(both)) if (part.innerHTML !== other.innerHTML) part.replaceChildren(...other.childNodes);
  root.dataset.stamp = fresh.dataset.stamp;
  swapCount(root, page);
  const kept = boxes().filter((box) => (box.checked = ticked.includes(box.value)));
  focused()?.focus({ preventScroll: true });
  count();
  const lost = ticked.length - kept.length;
  if (lost) toast.error(fill(
        ngettext(
          "%(number)s selected todo changed. Review it again.",
          "%(number)s selected todos changed. Review them again.",
          lost,
        ),
        { number: lost },
      ));
}

/** Returns a function that finds the focused control again after its row was replaced. */
function known(active) {
  if (!root.contains(active)) return () => null;
  if (active.name === "choice") return () => boxes().find((box) => idOf(box) === idOf(active));
  if (active.id) return () => document.getElementById(active.id);
  return () => [...root.querySelectorAll("a[href]")].find((link) => link.href === active.href);
}

root.addEventListener("click", ({ target }) => {
  const dialog = document.getElementById("ask-reject");
  if (target.closest("[data-close]")) dialog.close();
  if (!target.closest("#reject-chosen")) return;
  const chosen = boxes().filter((box) => box.checked);
  const choices = chosen.map(({ value }) => h("input", { type: "hidden", name: "choice", value }));
  dialog.querySelector("[data-choices]").replaceChildren(...choices);
  dialog.showModal();
  document.getElementById("reject-reason").focus();
});
// Todos that can't be approved may be selected, to be rejected.
root.addEventListener("submit", ({ submitter }) => {
  if (submitter?.id !== "approve-chosen") return;
  for (const box of boxes()) box.checked &&= "approvable" in box.dataset;
});
root.addEventListener("change", ({ target }) => {
  if (target.id === "every") for (const box of boxes()) box.checked = target.checked;
  count();
});
if (document.getElementById("every"))
  offerKeys(["X", gettext("Select"), { x: () => document.activeElement.closest("#choosing li")?.querySelector("[name=choice]")?.click() }]);
// The browser restores checkboxes on back navigation.
addEventListener("pageshow", count);
count();
new Live({ address: () => root.dataset.news, stamp: () => root.dataset.stamp, refresh });
root.dataset.ready = "yes";
