// Clusters of the iterations of a phase, and what lies inside the iterations.
import { bytesOf, cellsOf, numbersByName, numbersIn, type Cells } from "./columns";
import type { PhaseHeader } from "./header";

/** The clusters of one location in one phase. The last one is the rest. There are none if the location does not have the phase. */
export interface LocationClusters {
  first: number;
  count: number;
  members: Uint8Array | Uint16Array;
}
export interface Clusters {
  rounded: boolean;
  of: LocationClusters[];
  sizes: Float64Array;
  times: Float64Array;
  deviations: Float64Array;
  kinds: Float64Array;
  cells: Cells;
}

/** What lies inside the iterations of a phase, an entry each. Those of location l are `first[l]` up to `first[l + 1]`, and tell of its first
 *  `known[l]` iterations. For phases without iterations `counts` is how often they were entered, and `times` the time spent there. */
export interface Inside {
  first: number[];
  known: number[];
  iterations: Float64Array;
  phases: Float64Array;
  counts: Float64Array;
  firsts: Float64Array;
  times: Float64Array;
}
/** All that the profile of a range of iterations is made of: the clusters of the phase and of the phases inside, and which those are. */
export interface Parts {
  clusters: Map<number, Clusters>;
  inside: Map<number, Inside>;
}

export async function readClusters(header: NonNullable<PhaseHeader["clusters"]>): Promise<Clusters> {
  // Members of less than 128 clusters are bytes already.
  const bytes = await bytesOf(header.members),
    all = header.lengths.reduce((x, y) => x + y, 0),
    members = bytes.length === all ? bytes : Uint16Array.from(numbersIn(bytes));
  const of: LocationClusters[] = [];
  let first = 0,
    at = 0;
  header.counts.forEach((count, l) => {
    of.push({ first, count, members: members.subarray(at, (at += header.lengths[l]!)) });
    first += count;
  });
  const columns = await numbersByName(header, ["sizes", "times", "deviations", "kinds"]);
  return { rounded: header.rounded, of, ...columns, cells: await cellsOf(header.cells) };
}

export async function readInside(header: NonNullable<PhaseHeader["inside"]>): Promise<Inside> {
  const columns = await numbersByName(header, ["iterations", "phases", "counts", "firsts", "times"]),
    { iterations } = columns;
  const first = [0];
  for (const length of header.lengths) first.push(first[first.length - 1]! + length);
  for (let l = 0; l < header.lengths.length; ++l) for (let i = first[l]! + 1; i < first[l + 1]!; ++i) iterations[i]! += iterations[i - 1]!;
  return { first, known: header.known, ...columns };
}

/** The name of a cluster in text, JSON and on the page. `c` is its index by size on that location. */
export function clusterName(clusters: Clusters, l: number, c: number): string {
  const own = clusters.of[l]!,
    kind = c < own.count - 1 ? clusters.kinds[own.first + c]! : 0;
  if (kind === 0) return "-";
  let number = 0,
    all = 0;
  for (let other = 0; other < own.count - 1; ++other)
    if (clusters.kinds[own.first + other] === kind && clusters.sizes[own.first + other] !== 0) {
      ++all;
      if (other <= c) ++number;
    }
  return kindLetters(kind - 1) + (all > 1 ? String(number) : "");
}

/** A to Z, then AA, AB and so on. */
export function kindLetters(kind: number): string {
  let letters = "";
  for (let left = kind + 1; left > 0; left = Math.floor((left - 1) / 26)) letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return letters;
}
