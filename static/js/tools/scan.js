// Positions of values in a JSON text, by dotted path.
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const SCALAR = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class Stop extends Error {}

/** Map of path → {start, end}, as far as the text can be parsed. The root's path is "". A key counts as part of its value. */
export function placesOf(text) {
  const places = new Map();
  let at = 0;

  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[0] ?? null;
  };
  const need = (found) => {
    if (!found) throw new Stop();
    return found;
  };
  const skip = () => take(SPACE);
  const mark = (character) => text[at] === character && ((at += 1), true);
  const below = (path, name) => (path ? `${path}.${name}` : name);

  function members(path, start) {
    skip();
    if (mark("}")) return;
    do {
      skip();
      const begin = at;
      const name = JSON.parse(need(take(STRING)));
      skip();
      need(mark(":"));
      value(below(path, name), begin);
      skip();
    } while (mark(","));
    need(mark("}"));
  }

  function items(path) {
    skip();
    if (mark("]")) return;
    let index = 0;
    do {
      value(below(path, String(index)));
      index += 1;
      skip();
    } while (mark(","));
    need(mark("]"));
  }

  /** Scans one value; `begin` is the position of its key. */
  function value(path, begin) {
    skip();
    const start = begin ?? at;
    places.set(path, { start, end: at });
    if (mark("{")) members(path);
    else if (mark("[")) items(path);
    else need(take(STRING) ?? take(SCALAR));
    places.set(path, { start, end: at });
  }

  try {
    value("");
  } catch (error) {
    if (!(error instanceof Stop || error instanceof SyntaxError)) throw error;
  }
  return places;
}

/** {line, column} of an offset, both from 1. */
export function lineOf(text, at) {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: before.at(-1).length + 1 };
}

/** Offset of a line and column. */
export function indexOf(text, { line, column }) {
  const lines = text.split("\n").slice(0, line - 1);
  return Math.min(text.length, lines.reduce((sum, one) => sum + one.length + 1, 0) + column - 1);
}

const NAMED = /line (\d+), column (\d+)/;

/**
 * {line, column, length} of a problem {path, message}: the position it names, or that of the deepest existing part of its
 * path. `length` is the number of characters of that part in its first line.
 */
export function placeOf(text, problem, places = placesOf(text)) {
  const named = NAMED.exec(problem.message);
  if (named && !problem.path) return { line: Number(named[1]), column: Number(named[2]), length: 1 };
  for (let path = problem.path; path; path = path.slice(0, Math.max(0, path.lastIndexOf(".")))) {
    if (!places.has(path)) continue;
    const { start, end } = places.get(path);
    return { ...lineOf(text, start), length: text.slice(start, end).split("\n")[0].length };
  }
  return { line: 1, column: 1, length: 1 };
}
