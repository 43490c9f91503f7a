// The axis of two aligned runs: pairs of iterations in their order, and between them iterations without a partner.
import { numbersOf, seriesOf } from "../columns";
import type { GroupOverTime } from "./header";

/** What lies at some places of the axis. Times are ns; iterations count from 0. */
export interface Part {
  from: number; // places
  to: number;
  pairs: number;
  aloneBefore: number;
  aloneAfter: number;
  firstBefore: number;
  firstAfter: number;
  before: number; // sums over the pairs
  after: number;
  sum: number; // that pairs took longer in the second run, from the first one to the end of this part
  least: [number, number, number]; // of a pair: before, after, difference; NaN without pairs
  most: [number, number, number];
}

/** Sums of a column up to each point, and of all at the end. */
function running(first: number, ...columns: Float64Array[]): Float64Array {
  const sums = new Float64Array(columns[0]!.length + 1).fill(first);
  for (let p = 0; p + 1 < sums.length; ++p) sums[p + 1] = columns.reduce((sum, column) => sum + column[p]!, sums[p]!);
  return sums;
}

const withZero = (sums: Float64Array): Float64Array => Float64Array.from([0, ...sums]);

export class Aligned {
  readonly points: number;
  private constructor(
    readonly header: GroupOverTime,
    private pairs: Float64Array, // up to each point, as all of these
    private aloneBefore: Float64Array,
    private aloneAfter: Float64Array,
    private firstBefore: Float64Array,
    private firstAfter: Float64Array,
    private before: Float64Array,
    private after: Float64Array,
    private extremes: Float64Array[],
  ) {
    this.points = pairs.length - 1;
  }

  static async read(header: GroupOverTime): Promise<Aligned> {
    const { columns, first } = header,
      [pairs, aloneBefore, aloneAfter] = await Promise.all([columns.pairs, columns.alone_before, columns.alone_after].map(numbersOf)),
      [before, after, ...extremes] = await Promise.all([columns.before, columns.after, ...columns.extremes].map(seriesOf));
    return new Aligned(
      header,
      running(0, pairs!),
      running(0, aloneBefore!),
      running(0, aloneAfter!),
      running(first[0], pairs!, aloneBefore!),
      running(first[1], pairs!, aloneAfter!),
      withZero(before!),
      withZero(after!),
      extremes,
    );
  }

  /** Points p to q (excluded). */
  part(p: number, q: number): Part {
    const { window, places } = this.header,
      of = (sums: Float64Array): number => sums[q]! - sums[p]!,
      part: Part = {
        from: p * window,
        to: Math.min(q * window, places),
        pairs: of(this.pairs),
        aloneBefore: of(this.aloneBefore),
        aloneAfter: of(this.aloneAfter),
        firstBefore: this.firstBefore[p]!,
        firstAfter: this.firstAfter[p]!,
        before: of(this.before),
        after: of(this.after),
        sum: this.after[q]! - this.before[q]!,
        least: [NaN, NaN, NaN],
        most: [NaN, NaN, NaN],
      };
    if (part.pairs === 0) return part;
    part.least = [Infinity, Infinity, Infinity];
    part.most = [-Infinity, -Infinity, -Infinity];
    for (let at = p; at < q; ++at) {
      if (this.pairs[at] === this.pairs[at + 1]) continue;
      for (let e = 0; e < 3; ++e) {
        const [least, most] = this.extremesOf(at, e);
        if (least < part.least[e]!) part.least[e] = least;
        if (most > part.most[e]!) part.most[e] = most;
      }
    }
    return part;
  }

  private extremesOf(point: number, which: number): [number, number] {
    if (this.extremes.length > 0) return [this.extremes[2 * which]![point]!, this.extremes[2 * which + 1]![point]!];
    const before = this.before[point + 1]! - this.before[point]!,
      after = this.after[point + 1]! - this.after[point]!,
      value = [before, after, after - before][which]!;
    return [value, value];
  }

  pointAt(place: number): number {
    return Math.min(this.points - 1, Math.max(0, Math.floor(place / this.header.window)));
  }

  /** How many iterations of a run, and which one is at a place; between the ends of a point of several places about that. */
  private iterationAt(place: number, first: Float64Array): number {
    const p = this.pointAt(place),
      { from, to } = this.part(p, p + 1);
    return Math.floor(first[p]! + ((first[p + 1]! - first[p]!) * (place - from)) / (to - from));
  }
  beforeAt(place: number): number {
    return this.iterationAt(place, this.firstBefore);
  }
  afterAt(place: number): number {
    return this.iterationAt(place, this.firstAfter);
  }
  /** Where an iteration of the first run is. */
  placeOf(iteration: number): number {
    let low = 0,
      high = this.points - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.firstBefore[middle + 1]! > iteration) high = middle;
      else low = middle + 1;
    }
    const { from, to } = this.part(low, low + 1),
      own = this.firstBefore[low + 1]! - this.firstBefore[low]!;
    return own > 0 ? from + ((to - from) * (iteration - this.firstBefore[low]!)) / own : from;
  }

  /** Whether one number means the same iteration in both runs, wherever it is. */
  get isOneToOne(): boolean {
    const { first } = this.header;
    return first[0] === first[1] && this.aloneBefore.at(-1) === 0 && this.aloneAfter.at(-1) === 0;
  }

  /** The segment at a place; -1: there is none between two of them. */
  segmentAt(place: number): number {
    return this.header.segments.findIndex(({ from, to }) => place >= from && place < to);
  }
}
