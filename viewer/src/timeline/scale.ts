// The scale of a graph whose extremes are cut, and the mark of what was cut.
import type { Surface } from "../surface";
import type { Band } from "./axes";

/** The largest value, or less if it is over four times as high as 98 % of the values. 0 if there are none. */
export function topOf(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort(),
    high = sorted[Math.floor((sorted.length - 1) * 0.98)] ?? 0,
    top = sorted.at(-1) ?? 0;
  return top > 4 * high && high > 0 ? high * 1.6 : top;
}

/** At the upper edge, or the lower one. */
export function markCut(s: Surface, x: number, { y, h }: Band, color: string, isBelow = false): void {
  s.area(isBelow ? [x - 4, y + h - 2, x + 4, y + h - 2, x, y + h + 5] : [x - 4, y + 2, x + 4, y + 2, x, y - 5], color);
}
