// The page of canned replies: inserts a field where the caret is.
document.addEventListener("click", ({ target }) => {
  const name = target.closest("[data-field]")?.dataset.field;
  if (!name) return;
  const text = target.closest("form").querySelector("textarea");
  text.setRangeText(`{{${name}}}`, text.selectionStart, text.selectionEnd, "end");
  text.focus();
});
