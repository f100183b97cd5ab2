const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

/** True if two parts of a page are equal, ignoring CSRF tokens, which differ each time. */
export const isSame = (one, other) => one.innerHTML.replace(TOKEN, "") === other.innerHTML.replace(TOKEN, "");

/** Copies the notices with an Undo of a part into its replacement: the server renders a notice once. */
export function keepUndo(part, fresh) {
  const offers = [...part.querySelectorAll(".mg-note:has([data-undo])")];
  fresh.prepend(...offers.map((offer) => offer.cloneNode(true)));
}
