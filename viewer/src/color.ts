// Colours that people with colour-blindness can tell apart: cividis for amounts, blue to orange for differences, Okabe and Ito's for kinds.

type Rgb = [number, number, number];
// Nunez, Anderton, Renslow, PLoS ONE 13 (2018): nine points of the map.
const cividis: Rgb[] = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [254, 232, 56],
];
const differences: Rgb[] = [
  [5, 48, 97],
  [33, 102, 172],
  [103, 169, 207],
  [209, 229, 240],
  [247, 247, 247],
  [253, 219, 199],
  [239, 138, 98],
  [214, 96, 23],
  [127, 59, 8],
];
/** Okabe and Ito (2008), without black. */
const kinds: Rgb[] = [
  [86, 180, 233],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [0, 114, 178],
  [213, 94, 0],
  [240, 228, 66],
  [150, 110, 190],
];
/** Clusters by size: the eight colours, then their dark shades; then those that are left, and what lies in none. */
export const clusterColors: Rgb[] = [...kinds, ...kinds.map((c) => c.map((v) => Math.round(v * 0.58)) as Rgb), [175, 180, 186], [60, 60, 60]];

// From paper to warm: lightness alone tells the amount.
const warm: Record<string, Rgb[]> = {
  light: [
    [233, 238, 244],
    [247, 229, 184],
    [243, 186, 102],
    [224, 126, 48],
    [158, 58, 14],
  ],
  dark: [
    [44, 52, 61],
    [92, 76, 44],
    [160, 106, 36],
    [222, 142, 52],
    [255, 208, 128],
  ],
};

function along(points: Rgb[], t: number): Rgb {
  const x = Math.min(0.99999, Math.max(0, t)) * (points.length - 1);
  const i = Math.floor(x),
    f = x - i,
    a = points[i]!,
    b = points[i + 1]!;
  return [0, 1, 2].map((k) => Math.round(a[k]! + (b[k]! - a[k]!) * f)) as Rgb;
}
export const amount = (t: number): Rgb => along(cividis, t);
export const warmth = (t: number): Rgb => along(warm[document.documentElement.dataset.theme === "dark" ? "dark" : "light"]!, t);
/** -1 to 1; 0: no difference. */
export const difference = (t: number): Rgb => along(differences, (t + 1) / 2);
export const css = (c: Rgb): string => `rgb(${c[0]},${c[1]},${c[2]})`;
/** Little-endian pixel. */
export const pixel = (c: Rgb): number => ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
export const readableOn = (c: Rgb): string => (0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] > 140 ? "#111" : "#fff");

const known = new Map<string, string>(); // asking for a style in every frame makes the browser compute all of them
let knownTheme: string | undefined;
export function themeColor(name: string): string {
  const theme = document.documentElement.dataset.theme;
  if (theme !== knownTheme) {
    known.clear();
    knownTheme = theme;
  }
  if (!known.has(name))
    known.set(
      name,
      getComputedStyle(document.documentElement)
        .getPropertyValue("--" + name)
        .trim(),
    );
  return known.get(name)!;
}
