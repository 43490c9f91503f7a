// Groups of ranks that do the same, and their strips: what most ranks of a group do in each iteration.
import { numbersOf } from "./columns";
import type { GroupsHeader } from "./header";

export const folds = ["dominating", "outliers", "use"] as const;
export type Fold = (typeof folds)[number];

/** Iterations from..to in a state; -1: empty. `ranks` is how many were in it, where they were most. */
export interface GroupSpan {
  from: number;
  to: number;
  state: number;
  ranks: number;
}

export class Groups {
  private readonly strips: GroupSpan[][] = [];

  private constructor(
    readonly header: GroupsHeader,
    numbers: Float64Array,
  ) {
    let at = 0;
    for (const count of header.counts) {
      const strip: GroupSpan[] = [];
      for (let i = 0, from = 0; i < count; ++i, at += 3) {
        const to = from + numbers[at]!;
        strip.push({ from, to, state: numbers[at + 1]! - 1, ranks: numbers[at + 2]! });
        from = to;
      }
      this.strips.push(strip);
    }
  }

  static async read(header: GroupsHeader): Promise<Groups> {
    return new Groups(header, await numbersOf(header.spans));
  }

  statesThere(): Set<number> {
    return new Set(this.strips.flatMap((strip) => strip.map((span) => span.state)));
  }
  private first(group: number): number {
    return this.header.groups.slice(0, group).reduce((sum, one) => sum + folds.length + one.rows.length, 0);
  }
  folded(group: number, fold: Fold): GroupSpan[] {
    return this.strips[this.first(group) + folds.indexOf(fold)]!;
  }
  /** Of the n-th single rank of a group. */
  row(group: number, n: number): GroupSpan[] {
    return this.strips[this.first(group) + folds.length + n]!;
  }
}

export function spanAt(strip: GroupSpan[], iteration: number): GroupSpan | null {
  let low = 0,
    high = strip.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (strip[middle]!.to <= iteration) low = middle + 1;
    else high = middle;
  }
  return low < strip.length && strip[low]!.from <= iteration ? strip[low]! : null;
}

/** Of each of `width` pixels over the iterations from..to the state that most of its iterations are in; -1: empty. */
export function statesOfPixels(strip: GroupSpan[], from: number, to: number, width: number, states: number): Int16Array {
  const pixels = new Int16Array(width).fill(-1),
    lengths = new Float64Array(states);
  let at = 0;
  for (let x = 0; x < width; ++x) {
    const begin = from + ((to - from) * x) / width,
      end = from + ((to - from) * (x + 1)) / width;
    while (at < strip.length && strip[at]!.to <= begin) ++at;
    lengths.fill(0);
    let most = -1;
    for (let k = at; k < strip.length && strip[k]!.from < end; ++k) {
      const { state } = strip[k]!;
      if (state < 0) continue;
      lengths[state]! += Math.min(strip[k]!.to, end) - Math.max(strip[k]!.from, begin);
      if (most < 0 || lengths[state]! > lengths[most]!) most = state;
    }
    pixels[x] = most;
  }
  return pixels;
}
