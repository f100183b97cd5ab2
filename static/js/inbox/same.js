const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

/** True if two parts of a page are equal, ignoring CSRF tokens, which differ each time. */
export const isSame = (one, other) => one.innerHTML.replace(TOKEN, "") === other.innerHTML.replace(TOKEN, "");
