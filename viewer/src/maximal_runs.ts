// All maximal scoring subsequences of a row of numbers, in time that grows with its length: Ruzzo and Tompa, ISMB 1999.
import type { Span } from "./selection";

/** Keeps its memory from row to row. */
export class MaximalRuns {
  private readonly from: Int32Array;
  private readonly to: Int32Array;
  /** Sums up to the begin and the end of a candidate. */
  private readonly low: Float64Array;
  private readonly high: Float64Array;
  /** The nearest candidate on the left with a smaller `low`. */
  private readonly before: Int32Array;

  /** @param most numbers in a row */
  constructor(most: number) {
    [this.from, this.to, this.before] = [0, 1, 2].map(() => new Int32Array(most)) as [Int32Array, Int32Array, Int32Array];
    [this.low, this.high] = [new Float64Array(most), new Float64Array(most)];
  }

  /** In ascending order. A NaN ends a run. */
  of(scores: Float64Array): Span[] {
    const { from, to, low, high, before } = this,
      found: Span[] = [];
    let top = 0,
      sum = 0;
    const finish = (): void => {
      for (let c = 0; c < top; ++c) found.push([from[c]!, to[c]!]);
      top = 0;
    };
    for (let i = 0; i < scores.length; ++i) {
      const score = scores[i]!;
      if (Number.isNaN(score)) finish();
      else if (score > 0) {
        let first = i,
          least = sum,
          c = top - 1;
        sum += score;
        while (c >= 0 && low[c]! >= least) c = before[c]!;
        while (c >= 0 && high[c]! < sum) {
          first = from[c]!;
          least = low[c]!;
          top = c;
          c = before[c]!;
        }
        from[top] = first;
        to[top] = i + 1;
        low[top] = least;
        high[top] = sum;
        before[top] = c;
        ++top;
      } else sum += score;
    }
    finish();
    return found;
  }
}
