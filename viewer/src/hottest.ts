// Runs of iterations in which a rank takes longer than the median rank. It looks at every cell: made once for a map.
import type { Deviations } from "./deviations";
import { MaximalRuns } from "./maximal_runs";

export const allowance = 0.03, // of the median: so much more is nothing
  leastShare = 0.002, // of the median rank's total
  mostRuns = 5;

/** Iterations from (included) to (excluded). */
export interface HotRun {
  rank: number;
  from: number;
  to: number;
  /** Over the median rank's time, and how exact that is. */
  excess: number;
  error: number;
  /** The median rank's time. */
  median: number;
}

/** The hottest first: maximal scoring subsequences of the deviation less the allowance.
 *  @param median of each iteration */
export function hottestRuns(deviations: Deviations, median: Float64Array, ranks: number): HotRun[] {
  const n = median.length,
    row = new Float64Array(n),
    scores = new Float64Array(n),
    finder = new MaximalRuns(n),
    total = median.reduce((x, y) => x + y, 0);
  let hottest: HotRun[] = [];
  for (let rank = 0; rank < ranks; ++rank) {
    deviations.readRow(rank, row);
    for (let i = 0; i < n; ++i) scores[i] = row[i]! - allowance * median[i]!;
    for (const [from, to] of finder.of(scores)) {
      let excess = 0;
      for (let i = from; i < to; ++i) excess += row[i]!;
      if (excess <= leastShare * total || (hottest.length === mostRuns && excess <= hottest.at(-1)!.excess)) continue;
      hottest.push({ rank, from, to, excess, error: 0, median: 0 });
      hottest = hottest.sort((a, b) => b.excess - a.excess).slice(0, mostRuns);
    }
  }
  for (const run of hottest)
    for (let i = run.from; i < run.to; ++i) {
      run.median += median[i]!;
      run.error += deviations.at(run.rank, i)!.error;
    }
  return hottest;
}
