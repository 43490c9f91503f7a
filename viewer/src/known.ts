// What the profile holds of single iterations, summed over a range of them. The server knows it.
import { ask, keysOf, numbersByName, type Cells } from "./columns";
import type { Selection } from "./selection";

/** A profile per location. */
export interface Known {
  cells: Cells;
  errors: Float64Array;
  iterations: number[];
  sums: boolean[];
  onlyTime: boolean[];
  untold: number[];
}

/** What to ask for. The ranks of "all but these ranks" do not matter: all ranks come. */
export function knownParameters(s: Selection): Record<string, number> {
  const ranks = s.rest ? null : s.ranks;
  return {
    phase: s.phase,
    from: s.from,
    to: s.to,
    ...(s.rest && s.ranks === null ? { rest: 1 } : {}),
    ...(ranks ? { first_rank: ranks[0], end_rank: ranks[1] } : {}),
  };
}

export async function readKnown(parameters: Record<string, number>): Promise<Known> {
  const answer = await ask<{
    cells: { counts: number; keys: number; values: number; errors: number };
    iterations: number[];
    sums: boolean[];
    only_time: boolean[];
    untold: number[];
  }>("profile", parameters);
  const { counts, keys, values, errors } = await numbersByName(answer.cells, ["counts", "keys", "values", "errors"]);
  for (let i = 0; i < errors.length; ++i) errors[i] = errors[i] === 0 ? Infinity : errors[i]! - 1;
  const { iterations, sums, only_time: onlyTime, untold } = answer;
  return { cells: { ...keysOf(counts, keys), values }, errors, iterations, sums, onlyTime, untold };
}
