/** Buttons with `data-opens` open the dialog of that id; `data-closes` inside it, Esc and its shade close it. */
export function bindDialogs() {
  document.addEventListener("click", ({ target }) => {
    const opener = target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens).showModal();
    else if (target.closest("[data-closes]") || target.matches("dialog")) target.closest("dialog").close();
  });
}
