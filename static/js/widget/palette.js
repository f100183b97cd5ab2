// Derives the palette from the brand color, like projects/widget/theme.py.
const [WHITE, INK, BLACK] = ["#ffffff", "#1d1b17", "#000000"];
const GROUNDS = { link_light: "#f5f3ee", link_dark: "#24221f" };
const [READABLE, STEPS] = [4.5, 40];

const parts = (colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

function luminance(colour) {
  const [red, green, blue] = parts(colour).map((part) => linear(part / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function textOn(ground) {
  const best = contrast(WHITE, ground) >= contrast(INK, ground) ? WHITE : INK;
  return contrast(best, ground) >= READABLE ? best : BLACK;
}

function mixed(colour, other, share) {
  const others = parts(other);
  const mix = parts(colour).map((part, at) => Math.round(part + (others[at] - part) * share));
  return `#${mix.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function readable(colour, on) {
  const towards = textOn(on);
  for (let step = 0; step <= STEPS; step++) {
    const one = mixed(colour, towards, step / STEPS);
    if (contrast(one, on) >= READABLE) return one;
  }
  return towards;
}

/** The brand color as #rrggbb, with its text and link colors. */
export function palette(brand) {
  const links = Object.entries(GROUNDS).map(([name, ground]) => [name, readable(brand, ground)]);
  return { brand, on: textOn(brand), ...Object.fromEntries(links) };
}
