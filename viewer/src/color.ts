// Colours that people with colour-blindness can tell apart: cividis for amounts, blue to orange for differences, Okabe and Ito's for kinds.

type Rgb = [number, number, number];
const colors = (text: string): Rgb[] => text.split(" ").map((code) => [0, 2, 4].map((at) => parseInt(code.slice(at, at + 2), 16)) as Rgb);

// Nunez, Anderton, Renslow, PLoS ONE 13 (2018): nine points of the map.
const cividis = colors("00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 fee838");
const differences = colors("053061 2166ac 67a9cf d1e5f0 f7f7f7 fddbc7 ef8a62 d66017 7f3b08");
/** Okabe and Ito (2008), without black. */
const kinds = colors("56b4e9 e69f00 009e73 cc79a7 0072b2 d55e00 f0e442 966ebe");
/** Clusters by size: the eight colours, their dark shades, then one for all others and one for iterations in no cluster. */
export const clusterColors: Rgb[] = [...kinds, ...kinds.map((c) => c.map((v) => Math.round(v * 0.58)) as Rgb), ...colors("afb4ba 3c3c3c")];

// From paper to warm: lightness alone tells the amount.
const warm = { light: colors("e9eef4 f7e5b8 f3ba66 e07e30 9e3a0e"), dark: colors("2c343d 5c4c2c a06a24 de8e34 ffd080") };

function along(points: Rgb[], t: number): Rgb {
  const x = Math.min(0.99999, Math.max(0, t)) * (points.length - 1);
  const i = Math.floor(x),
    f = x - i,
    a = points[i]!,
    b = points[i + 1]!;
  return [0, 1, 2].map((k) => Math.round(a[k]! + (b[k]! - a[k]!) * f)) as Rgb;
}
export const amount = (t: number): Rgb => along(cividis, t);
export const warmth = (t: number): Rgb => along(warm[document.documentElement.dataset.theme === "dark" ? "dark" : "light"], t);
/** From -1 to 1; 0 is no difference. */
export const difference = (t: number): Rgb => along(differences, (t + 1) / 2);
export const css = (c: Rgb): string => `rgb(${c[0]},${c[1]},${c[2]})`;
/** Little-endian pixel. */
export const pixel = (c: Rgb): number => ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
export const readableOn = (c: Rgb): string => (0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] > 140 ? "#111" : "#fff");

const known = new Map<string, string>(); // asking for a style makes the browser compute all styles
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
