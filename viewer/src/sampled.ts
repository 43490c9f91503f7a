// How far times may be off that samples shared out: docs/sampling-error.md. It is the arithmetic of tools/analysis/sample_strata.cpp, for selections
// that the page makes itself. A test compares the two.
import type { LocationPools, Range } from "./pools";

const mostStrata = 256; // beyond, some are taken together

/** Half of the 95 % interval of a part of a whole. E. B. Wilson, JASA 22 (1927). */
function halfInterval(part: number, whole: number, samples: number): number {
  const z = 1.959964;
  if (samples <= 0) return whole;
  const p = part / whole,
    z2 = (z * z) / samples,
    centre = (p + z2 / 2) / (1 + z2),
    half = Math.sqrt(p * (1 - p) * z2 + (z2 * z2) / 4) / (1 + z2);
  return whole * Math.max(centre + half - p, p - centre + half);
}

/** What samples shared out of a selection, by call path and stratum. */
export class Sampled {
  private readonly ns: number[] = []; // of strata
  private readonly squares: number[] = [];
  private readonly location: number[] = [];
  private readonly parts: { node: number; stratum: number; ns: number }[] = [];
  /** Parts in the order of the call tree: those of a node and what is below are from first[n] up to first[n + size]. */
  private sorted: { first: Uint32Array; place: Uint32Array; size: Uint32Array } | null = null;

  constructor(private readonly parent: number[]) {}

  /** @returns the number of the stratum */
  addStratum(location: number, ns: number, squares: number): number {
    this.location.push(location);
    this.squares.push(squares);
    return this.ns.push(ns) - 1;
  }
  addPart(node: number, stratum: number, ns: number): void {
    this.parts.push({ node, stratum, ns });
  }

  private inOrder(): NonNullable<Sampled["sorted"]> {
    if (this.sorted) return this.sorted;
    const count = this.parent.length,
      size = new Uint32Array(count).fill(1),
      place = new Uint32Array(count),
      next = new Uint32Array(count).fill(1),
      first = new Uint32Array(count + 1);
    for (let n = count - 1; n > 0; --n) size[this.parent[n]!]! += size[n]!;
    for (let n = 1; n < count; ++n) {
      const p = this.parent[n]!;
      place[n] = place[p]! + next[p]!;
      next[p]! += size[n]!;
    }
    for (const part of this.parts) ++first[place[part.node]! + 1]!;
    for (let n = 0; n < count; ++n) first[n + 1]! += first[n]!;
    this.parts.sort((a, b) => place[a.node]! - place[b.node]!);
    return (this.sorted = { first, place, size });
  }

  /** Adds up the parts of some nodes by stratum. */
  private sumsOf(nodes: number[], withBelow: boolean, location: number): Float64Array {
    const { first, place, size } = this.inOrder(),
      to = new Float64Array(mostStrata);
    for (const n of nodes) {
      const at = place[n]!;
      for (let i = first[at]!, end = first[at + (withBelow ? size[n]! : 1)]!; i < end; ++i) {
        const part = this.parts[i]!;
        if (location < 0 || this.location[part.stratum] === location) to[part.stratum % mostStrata]! += part.ns;
      }
    }
    return to;
  }

  private strataOf(location: number): { ns: Float64Array; squares: Float64Array } {
    const ns = new Float64Array(mostStrata),
      squares = new Float64Array(mostStrata);
    this.ns.forEach((value, s) => {
      if (location >= 0 && this.location[s] !== location) return;
      ns[s % mostStrata]! += value;
      squares[s % mostStrata]! += this.squares[s]!;
    });
    return { ns, squares };
  }

  private errorOfSums(sums: Float64Array, all: { ns: Float64Array; squares: Float64Array }): number {
    let part = 0,
      whole = 0,
      fewest = 0,
      variance = 0;
    for (let s = 0; s < mostStrata; ++s) {
      part += sums[s]!;
      whole += all.ns[s]!;
      fewest += all.squares[s]!; // of a share of nothing the variance says nothing
    }
    if (part >= whole * (1 - 1e-5)) return 0; // the whole is exact; parts are rounded
    // A stratum of few samples tells little of its variance. So each gets some samples with the share of the whole.
    const added = 2,
      share = part / whole;
    for (let s = 0; s < mostStrata; ++s) {
      if (all.squares[s] === 0) continue;
      const samples = all.ns[s]! ** 2 / all.squares[s]!,
        p = Math.min(1, ((samples * sums[s]!) / all.ns[s]! + added * share) / (samples + added));
      variance += all.squares[s]! * p * (1 - p);
    }
    return halfInterval(part, whole, share === 0 || variance === 0 ? whole ** 2 / fewest : (share * (1 - share) * whole ** 2) / variance);
  }

  isEmpty(): boolean {
    return this.parts.length === 0;
  }

  has(nodes: number[], withBelow: boolean): boolean {
    const { first, place, size } = this.inOrder();
    return nodes.some((n) => first[place[n]!]! < first[place[n]! + (withBelow ? size[n]! : 1)]!);
  }

  /** Of the times of these nodes together; `withBelow` with all below them. Of what no sample hit it is 0. @param location -1: all */
  error(nodes: number[], withBelow: boolean, location = -1): number {
    const sums = this.sumsOf(nodes, withBelow, location);
    return sums.some((ns) => ns > 0) ? this.errorOfSums(sums, this.strataOf(location)) : 0;
  }
  /** Of what no sample hit, but may have had one. */
  errorOfNothing(): number {
    return this.ns.some((ns) => ns > 0) ? this.errorOfSums(new Float64Array(mostStrata), this.strataOf(-1)) : 0;
  }
  /** Of the difference of the own times of nodes that have none in common. A sample that hits one does not hit the other. */
  errorOfDifference(a: number[], b: number[]): number {
    const all = this.strataOf(-1),
      of = (nodes: number[]): number => this.errorOfSums(this.sumsOf(nodes, false, -1), all),
      both = 2 * (of(a) ** 2 + of(b) ** 2);
    return Math.sqrt(Math.max(0, both - of([...a, ...b]) ** 2));
  }
}

/** What was selected of a pool's computing time, and the sum of squares by which it may be off. */
interface Chosen {
  ns: number;
  squares: number;
  share: number; // of the pool's time
}

/** How the times of a pool's iterations vary. B. P. Welford, Technometrics 4 (1962). */
class Spread {
  private seen = 0;
  private mean = 0;
  private sum = 0;
  selected = 0;
  selectedNs = 0;

  see(ns: number, isSelected: boolean): void {
    const before = ns - this.mean;
    this.mean += before / ++this.seen;
    this.sum += before * (ns - this.mean);
    if (!isSelected) return;
    ++this.selected;
    this.selectedNs += ns;
  }

  /** What is added to the squares because the selected iterations may be unlike the others of the pool. W. G. Cochran (1977), theorem 2.2. */
  squares(iterations: number, ns: number, isMixed: boolean): number {
    if (this.selected >= iterations) return 0;
    if (isMixed) return (this.selectedNs * (1 - this.selectedNs / ns)) ** 2; // nothing says that iterations of different structure do the same
    const variance = this.seen < 2 ? 0 : this.sum / (this.seen - 1),
      byChance = this.selected * variance * (1 - this.selected / iterations),
      difference = (this.selectedNs - (this.selected * ns) / iterations) ** 2;
    return this.seen < 10 ? Math.max(difference, byChance) : byChance + Math.max(0, difference - 4 * byChance);
  }
}

/** Of each pool what the ranges have of it. */
export function chosenOf(pools: LocationPools, computing: number[], ranges: Range[] | null): Chosen[] {
  if (ranges === null || pools.times === null)
    return computing.map((ns, p) => ({ ns, squares: ns ** 2 / Math.max(1, pools.samples[p]!), share: ns === 0 ? 0 : 1 }));
  const around = 200, // iterations before and after that tell how much they vary
    { times } = pools,
    spreads = computing.map(() => new Spread()),
    sums = pools.isWall ? computing.map(() => 0) : computing;
  if (pools.isWall) times.forEach((ns, i) => (pools.of(i) >= 0 ? (sums[pools.of(i)]! += ns) : 0));
  const from = Math.max(0, (ranges[0]?.[0] ?? times.length) - around),
    to = ranges.length ? Math.min(times.length, ranges[ranges.length - 1]![1] + around) : times.length;
  let r = 0;
  for (let i = from; i < to; ++i) {
    while (r < ranges.length && ranges[r]![1] <= i) ++r;
    const pool = pools.of(i);
    if (pool >= 0) spreads[pool]!.see(times[i]!, r < ranges.length && i >= ranges[r]![0]);
  }
  return computing.map((ns, p) => {
    const spread = spreads[p]!,
      share = sums[p] === 0 ? 0 : spread.selectedNs / sums[p]!,
      selected = ns * share;
    if (share === 0) return { ns: 0, squares: 0, share };
    const differs = spread.squares(pools.iterations[p]!, sums[p]!, pools.isMixed[p]!);
    return { ns: selected, squares: selected ** 2 / Math.max(1, pools.samples[p]!) + (ns / sums[p]!) ** 2 * differs, share };
  });
}
