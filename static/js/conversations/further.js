// A search reads so many messages at a time. While nothing is found it goes on by itself, one page after the other.
const MOST_PAGES = 60;

async function page(url) {
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  if (!response?.ok) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Goes back from a page on which nothing was found to the first that has something, or to the end. */
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
