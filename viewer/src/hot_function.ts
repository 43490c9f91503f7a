// The function in which a rank takes longest over the mean of others, in some iterations. It makes a profile of these ranks: not for every frame.
import type { Data } from "./data";
import { SelectionProfile } from "./profile";
import { scatteredSelection, spansOf } from "./selection";

/** A mean of so many ranks, evenly spaced, is enough to tell which function it is. */
const mostCompared = 64;

export interface HotFunction {
  name: string;
  /** Over the mean. In a file it is an estimate, as are the trees of some iterations. */
  excess: number;
}

/** Null if nothing is above the mean. A call of MPI counts for itself.
 *  @param row of the metrics
 *  @param alone without the metrics below it */
export async function hotFunction(
  data: Data,
  row: number,
  alone: boolean,
  { phase, rank, from, to }: { phase: number; rank: number; from: number; to: number },
): Promise<HotFunction | null> {
  const { ranks } = data.header.job,
    step = Math.ceil(ranks / mostCompared),
    compared = data.mainOfRank.filter((l, r) => l >= 0 && r % step === 0),
    chosen = Array.from({ length: ranks }, (_, r) => r).filter((r) => r === rank || r % step === 0),
    selection = scatteredSelection(phase, [[from, to]], spansOf(chosen), 0),
    parts = data.header.phases[phase]!.clusters ? await data.parts(phase) : null,
    { byLocation } = new SelectionProfile(data, selection, row, parts, await data.pools()),
    { kind, name, parent, row: rowOf } = data.header.nodes,
    own = data.mainOfRank[rank]!,
    sums = new Map<string, number>();
  for (let n = 1; n < data.nodes; ++n) {
    if (alone && rowOf[n] !== row) continue;
    let sum = 0;
    for (const l of compared) sum += byLocation[l * data.nodes + n]!;
    const more = byLocation[own * data.nodes + n]! - sum / compared.length;
    if (more === 0) continue;
    let at = n;
    while (at > 0 && kind[at] !== "frame" && kind[at] !== "inlined" && kind[at] !== "mpi") at = parent[at]!;
    if (at > 0) sums.set(name[at]!, (sums.get(name[at]!) ?? 0) + more);
  }
  let hottest: HotFunction | null = null;
  for (const [of, excess] of sums) if (excess > (hottest?.excess ?? 0)) hottest = { name: of, excess };
  return hottest;
}
