// The pools of samples that shared out the computing time of a phase.
import { numbersByName } from "./columns";
import type { Clusters } from "./clusters";
import type { PhaseHeader } from "./header";

export type Range = [number, number]; // iterations from (included) to (excluded)

/** Those of one location. */
export interface LocationPools {
  samples: number[]; // by pool: how many
  isMixed: boolean[]; // its clusters have different call structures
  iterations: number[];
  /** The pool of each cluster, the rest last; -1: none. A phase without iterations has the rest only. */
  ofCluster: number[];
  /** By iteration: the time by which iterations are compared, ns. Null if the page does not have it. */
  times: Float64Array | null;
  isWall: boolean; // wall times in place of computing times
  /** The pool of an iteration, or -1. */
  of(iteration: number): number;
}
export type Pools = LocationPools[];

/** @param clusters of the phase, null if it has no iterations */
export async function readPools(header: PhaseHeader["samples"], clusters: Clusters | null): Promise<Pools> {
  const { numbers, mixed, of_cluster, times } = await numbersByName(header, ["numbers", "mixed", "of_cluster", "times"]);
  let pool = 0,
    cluster = 0,
    time = 0;
  return header.counts.map((count, l) => {
    const own = clusters?.of[l] ?? null,
      end = pool + count,
      samples = Array.from(numbers.subarray(pool, end), (n) => n / 1000),
      isMixed = Array.from(mixed.subarray(pool, end), (n) => n !== 0),
      ofCluster = count === 0 ? [] : Array.from(of_cluster.subarray(cluster, cluster + (own?.count ?? 1)), (p) => p - 1),
      iterations = samples.map(() => 0),
      unit = header.units[l]!,
      length = unit === 0 ? 0 : own!.members.length;
    ofCluster.forEach((p, c) => {
      if (p >= 0 && own) iterations[p]! += clusters!.sizes[own.first + c]!;
    });
    const result: LocationPools = {
      samples,
      isMixed,
      iterations,
      ofCluster,
      times: unit === 0 ? null : times.subarray(time, time + length).map((n) => n * unit),
      isWall: header.wall[l]!,
      of: (i) => ofCluster[Math.min(own!.members[i]!, ofCluster.length - 1)] ?? -1,
    };
    pool = end;
    cluster += ofCluster.length;
    time += length;
    return result;
  });
}
