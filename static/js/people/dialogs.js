/** Binds buttons with `data-opens` to the dialog with that id; `data-closes`, Esc and the backdrop close it. */
export function bindDialogs() {
  document.addEventListener("click", ({ target }) => {
    const opener = target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens).showModal();
    else if (target.closest("[data-closes]") || target.matches("dialog")) target.closest("dialog").close();
  });
}
