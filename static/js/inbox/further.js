// Continues a search over older messages while nothing is found. The server searches a limited number at a time.
const MOST_PAGES = 60;

async function page(url) {
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  if (!response?.ok) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Loads older result pages until one has a match or there are no more. */
export async function searchFurther(none) {
  let link = none?.querySelector("[data-further]");
  for (let pages = 0; link && pages < MOST_PAGES; pages += 1) {
    const url = new URL(link.getAttribute("href"), location.href);
    const found = await page(url);
    if (!found) return;
    const next = found.getElementById("none");
    if (!next) return location.replace(url);
    none.replaceChildren(...next.childNodes);
    link = none.querySelector("[data-further]");
  }
}
