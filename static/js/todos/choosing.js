// Ticking several todos to approve them at once.
const form = document.getElementById("choosing");
const boxes = [...(form?.querySelectorAll("[name=choice]") ?? [])];
const button = document.getElementById("approve-chosen");
const every = document.getElementById("every");

function count() {
  const ticked = boxes.filter((box) => box.checked).length;
  button.disabled = !ticked;
  button.querySelector("[data-count]").textContent = ticked || "what is ticked";
  every.checked = ticked === boxes.length;
  every.indeterminate = ticked > 0 && ticked < boxes.length;
}

if (button) {
  every.closest("[data-every]").hidden = false;
  every.addEventListener("change", () => {
    for (const box of boxes) box.checked = every.checked;
    count();
  });
  form.addEventListener("change", count);
  // The browser remembers ticks when one comes back.
  addEventListener("pageshow", count);
  count();
}
