// The order of the palette's fixed entries: titles that begin with the text, then words that do, then the rest.

const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

function rank({ title, words, hint }, text) {
  const name = plain(title);
  if (name.startsWith(text)) return 0;
  if (name.split(/\s+/).some((word) => word.startsWith(text))) return 1;
  const all = plain(`${title} ${hint} ${words}`).split(/\s+/);
  const asked = text.split(/\s+/);
  return asked.every((one) => all.some((word) => word.startsWith(one))) ? 2 : null;
}

/** The entries that match the text, best first and otherwise in their order; all of them without a text. */
export function bestOf(entries, text) {
  if (!text) return entries;
  const asked = plain(text);
  return entries
    .map((entry) => ({ entry, rank: rank(entry, asked) }))
    .filter((one) => one.rank !== null)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}
