// Colours and scale of the value map where it shows deviations from the median rank, and the hottest runs in it.
import { css, difference, pixel, themeColor } from "../color";
import { middle, type Deviations } from "../deviations";
import type { HotRun } from "../hottest";
import type { Surface } from "../surface";
import { left, type Axes } from "./axes";

const noValue = "#9aa1a9"; // the median rank is nearly white

/** Pixels by level. */
export function deviationColors(): Uint32Array {
  const colors = new Uint32Array(256);
  colors[0] = pixel([0x9a, 0xa1, 0xa9]);
  for (let l = 1; l < 256; ++l) colors[l] = pixel(difference((l - middle) / (255 - middle)));
  return colors;
}

export function drawDeviationScale(s: Surface, axes: Axes, { limit, hasGaps }: Deviations): void {
  const band = axes.bands.map,
    x = left + axes.width + 8,
    steps = 41,
    height = hasGaps ? band.h - 18 : band.h,
    share = (part: number): string => `${+(100 * limit * part).toPrecision(3)}\u202f%`;
  for (let i = 0; i < steps; ++i) s.rect(x, band.y + (height * (steps - 1 - i)) / steps, 12, height / steps + 0.6, css(difference((2 * i) / (steps - 1) - 1)));
  const word = (text: string, y: number): void => s.text(text, x + 17, band.y + y, themeColor("dim"), "left", 10);
  word("median rank", height / 2);
  if (height < 66) {
    word(`≥\u202f${share(1)} above`, 6);
    word(`≥\u202f${share(1)} below`, height - 6);
  } else {
    word(`${share(1)} or`, 6);
    word("more above", 18);
    word(`${share(1)} or`, height - 18);
    word("more below", height - 6);
  }
  if (height > 110) {
    word(share(0.5) + " above", height / 4 + 3);
    word(share(0.5) + " below", (3 * height) / 4 - 3);
  }
  if (!hasGaps) return;
  s.rect(x, band.y + height + 6, 12, 11, noValue);
  word("no value", height + 12);
}

/** A frame and its number around each. */
export function drawHotRuns(s: Surface, axes: Axes, runs: HotRun[]): void {
  const band = axes.bands.map,
    clip = (v: number, from: number, size: number): number => Math.min(from + size, Math.max(from, v));
  runs.forEach(({ rank, from, to }, i) => {
    const x0 = clip(axes.xOf(from), left, axes.width),
      x1 = clip(axes.xOf(to), left, axes.width),
      y0 = clip(axes.yOf(rank, band), band.y, band.h),
      y1 = clip(axes.yOf(rank + 1, band), band.y, band.h);
    if ((x1 <= x0 && (x0 === left || x0 === left + axes.width)) || (y1 <= y0 && (y0 === band.y || y0 === band.y + band.h))) return;
    s.rect(x0 - 1, y0 - 1, Math.max(3, x1 - x0) + 2, Math.max(3, y1 - y0) + 2, "none", "#000");
    // The number is beside a narrow frame, and inside a wide one.
    const x = clip(x1 - x0 < 26 ? x1 + 3 : x0 + 2, left, axes.width - 13),
      y = clip((y0 + y1) / 2 - 6, band.y, band.h - 13);
    s.rect(x, y, 13, 13, "#000");
    s.text(String(i + 1), x + 6.5, y + 7, "#fff", "center", 10);
  });
}
