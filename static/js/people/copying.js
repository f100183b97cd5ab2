/** Buttons with `data-copies` copy the field of that id, and say so. */
export function bindCopying() {
  for (const button of document.querySelectorAll("[data-copies]")) button.addEventListener("click", () => copy(button));
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copies);
  field.select();
  const label = button.querySelector("span");
  label.textContent = await written(field.value);
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    // The clipboard is closed to pages without TLS: the words are selected, the keys do the rest.
    return "Press Ctrl C";
  }
}
