// Values that this tab or this browser keeps. Where storage is blocked, none is found, and they last until the page is left.

/** The value of a key in "sessionStorage" or "localStorage"; null without one. */
export function read(area, key) {
  try {
    return window[area].getItem(key);
  } catch {
    return null;
  }
}

/** Keeps the value, a string; null removes the key. */
export function write(area, key, value) {
  try {
    if (value === null) window[area].removeItem(key);
    else window[area].setItem(key, value);
  } catch {
    // Blocked, or full.
  }
}
