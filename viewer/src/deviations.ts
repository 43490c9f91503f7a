// How far the values of a map lie from the median rank of their iteration, as levels for a picture. Drift of all ranks moves the median and is not
// seen. It looks at every cell: made once for a map, never for a frame.
import type { Spread } from "./data";
import type { MapHeader } from "./header";

/** The level of the median rank. Level 0 is no value; from 1 to 255 levels grow with the deviation, so that the larger of two is the hotter one. */
export const middle = 128;
const steps = 127; // on either side of it
const limits = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** How far a value lies from the median, and how exact that is. */
export interface Deviation {
  value: number;
  error: number;
}

/** Of a value that is known to lie between low and high. In the step of the median nothing is known to be off it. */
export function deviationOf(low: number, high: number, median: number): Deviation {
  return low <= median && median < high
    ? { value: 0, error: Math.max(high - median, median - low) }
    : { value: (low + high) / 2 - median, error: (high - low) / 2 };
}

/** Deviations of times from the median rank make sense. */
export const canDeviate = (map: MapHeader, ranks: number): boolean => map.unit === "ns" && ranks > 1;

export class Deviations {
  /** By rank, then iteration. */
  readonly levels: Uint8Array;
  /** The share of the median that the last levels stand for; larger deviations have the same levels. At most a hundredth of the cells do. */
  readonly limit: number;
  /** Some cells have no value. */
  readonly hasGaps: boolean;
  /** Of the steps: where they begin, and their middles. */
  private readonly least: Float64Array;
  private readonly centers: Float64Array;

  /** @param levels the values, as steps between `bounds`
   *  @param values the exact ones plus 1, where the page has them */
  constructor(
    private readonly bounds: number[],
    private readonly spread: Spread,
    private readonly known: Uint8Array,
    private readonly values: Float64Array | null,
  ) {
    const { median } = spread,
      n = median.length,
      count = known.length,
      beyond = new Uint32Array(limits.length),
      row = new Float64Array(n);
    this.least = Float64Array.from(bounds);
    this.centers = Float64Array.from(bounds, (low, l) => (low + (bounds[l + 1] ?? low)) / 2);
    const share = (i: number): number => (row[i] === 0 ? 0 : row[i]! / median[i]!);
    let gaps = 0;
    for (let start = 0; start < count; start += n) {
      this.readRow(start / n, row);
      for (let i = 0; i < n; ++i) {
        const size = Math.abs(share(i));
        if (Number.isNaN(size)) ++gaps;
        else for (let k = 0; k < limits.length && size > limits[k]!; ++k) ++beyond[k]!;
      }
    }
    this.hasGaps = gaps > 0;
    this.limit = limits.find((_, k) => beyond[k]! <= 0.01 * (count - gaps)) ?? limits.at(-1)!;
    this.levels = new Uint8Array(count);
    for (let start = 0; start < count; start += n) {
      this.readRow(start / n, row);
      for (let i = 0; i < n; ++i) {
        const size = share(i) / this.limit;
        if (!Number.isNaN(size)) this.levels[start + i] = middle + Math.round(steps * Math.min(1, Math.max(-1, size)));
      }
    }
  }

  /** The deviations of a rank by iteration; NaN without a value. As at() has them, without an object for each cell. */
  readRow(rank: number, row: Float64Array): void {
    const { known, values, least, centers } = this,
      { median } = this.spread;
    for (let i = 0, at = rank * row.length; i < row.length; ++i, ++at) {
      const level = known[at]!,
        m = median[i]!;
      row[i] = level === 0 ? NaN : values ? values[at]! - 1 - m : least[level - 1]! <= m && m < least[level]! ? 0 : centers[level - 1]! - m;
    }
  }

  /** Null without a value. */
  at(rank: number, iteration: number): Deviation | null {
    const median = this.spread.median[iteration]!,
      at = rank * this.spread.median.length + iteration,
      level = this.known[at]!;
    if (level === 0) return null;
    if (this.values) return { value: this.values[at]! - 1 - median, error: 0 };
    return deviationOf(this.bounds[level - 1]!, this.bounds[level]!, median);
  }
}
