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
  /** What samples shared out: by location its strata, and its parts as node, stratum, ns. */
  strata: [number, number][][];
  parts: Float64Array[];
}

/** What to ask for. For "all but these ranks" the server sends all ranks. */
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
  const sent = await ask<{
    cells: { counts: number; keys: number; values: number; errors: number };
    iterations: number[];
    sums: boolean[];
    only_time: boolean[];
    untold: number[];
    sampled: { counts: number; strata: [number, number][]; parts: number };
  }>("profile", parameters);
  const { counts, keys, values, errors } = await numbersByName(sent.cells, ["counts", "keys", "values", "errors"]);
  for (let i = 0; i < errors.length; ++i) errors[i] = errors[i] === 0 ? Infinity : errors[i]! - 1;
  const { iterations, sums, only_time: onlyTime, untold } = sent;
  const sampled = await numbersByName(sent.sampled, ["counts", "parts"]),
    strata: [number, number][][] = [],
    parts: Float64Array[] = [];
  for (let l = 0, stratum = 0, part = 0; l < iterations.length; ++l) {
    strata.push(sent.sampled.strata.slice(stratum, (stratum += sampled.counts[2 * l]!)));
    parts.push(sampled.parts.subarray(part, (part += 3 * sampled.counts[2 * l + 1]!)));
  }
  return { cells: { ...keysOf(counts, keys), values }, errors, iterations, sums, onlyTime, untold, strata, parts };
}
