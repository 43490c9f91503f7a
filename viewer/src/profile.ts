// The profile of a selection: values by call path, by metric and by location. This is the arithmetic behind the three trees.
import type { Clusters, LocationClusters, Parts } from "./clusters";
import type { Cells } from "./columns";
import type { Data, PhasePools } from "./data";
import type { Known } from "./known";
import type { Range } from "./pools";
import { chosenOf, Sampled } from "./sampled";
import { hasLocation, iterationSpans, isRange, type Selection } from "./selection";

/** The exclusive values that a metric is made of: columns of the cells, or, for times, the nodes that count. */
export class MetricParts {
  readonly columns: number[] = [];
  readonly rows = new Set<number>();
  readonly isTime: boolean;
  constructor(
    data: Data,
    readonly row: number,
  ) {
    const metrics = data.header.metrics;
    const below = new Set([row]);
    metrics.forEach((m, r) => {
      if (below.has(m.parent)) below.add(r);
    });
    this.isTime = metrics[row]!.time;
    for (const r of below) {
      if (metrics[r]!.time) this.rows.add(r);
      else if (metrics[r]!.column >= 0) this.columns.push(metrics[r]!.column);
    }
  }
  /** The columns of a node that count. */
  columnsOf(data: Data, node: number): number[] {
    return this.isTime ? (this.rows.has(data.header.nodes.row[node]!) ? [0] : []) : this.columns;
  }
}

export class SelectionProfile {
  /** Exclusive values by node, then column, over all locations of the selection. */
  readonly cells: Float64Array;
  /** Exclusive values of the metric by location, then node. */
  readonly byLocation: Float64Array;
  /** Inclusive values of the metric by location, then node. */
  readonly inclusiveBy: Float64Array;
  /** Values of the metric by node over all locations. */
  readonly inclusive: Float64Array;
  readonly exclusive: Float64Array;
  /** Largest inclusive value over the selected main threads, by node. */
  readonly maximum: Float64Array;
  exact = true;
  /** Made of what the profile holds of single iterations. */
  readonly known: boolean;
  /** What samples shared out of the metric, and how far it may be off. */
  readonly sampled: Sampled;
  /** How far all else may be off by node, Infinity if unknown. An inclusive value is off by at most the sum of its parts. */
  readonly exclusiveError: Float64Array;
  readonly inclusiveError: Float64Array;
  /** The part of the metric, over all nodes, whose error is unknown. */
  estimated = 0;
  /** Standard error of the time of the selection, ns (independent locations). */
  error = 0;
  /** Time in inner phases of which the profile has nothing else, in ns and by location. Its call paths and other metrics are unknown. */
  readonly untoldBy: Float64Array;
  /** Iterations times locations. */
  instances = 0;
  locations = 0;
  readonly parts: MetricParts;
  private variance = 0;
  /** By cell: 1 if it counts for the metric. */
  private readonly weights: Uint8Array;
  /** By column: whether it is a time. */
  private readonly times: boolean[];

  constructor(
    readonly data: Data,
    readonly selection: Selection,
    row: number,
    parts: Parts | null,
    private readonly pools: PhasePools[],
    known: Known | null = null,
  ) {
    const { nodes, columns, locations, header } = data;
    this.parts = new MetricParts(data, row);
    this.cells = new Float64Array(nodes * columns);
    this.byLocation = new Float64Array(nodes * locations);
    this.exclusiveError = new Float64Array(nodes);
    this.untoldBy = new Float64Array(locations);
    this.sampled = new Sampled(header.nodes.parent);
    this.known = known !== null;
    this.weights = new Uint8Array(nodes * columns);
    for (let n = 0; n < nodes; ++n) for (const c of this.parts.columnsOf(data, n)) this.weights[n * columns + c] = 1;
    this.times = header.columns.map((name) => header.metrics.some((m) => m.name === name && m.unit === "ns"));
    const range = isRange(data, selection);
    for (let l = 0; l < locations; ++l) {
      if (!hasLocation(data, selection, l)) continue;
      ++this.locations;
      if (selection.phase < 0) for (let p = 0; p < header.phases.length; ++p) this.addPhase(p, l);
      else if (known && range) this.addKnown(known, l);
      else if (parts === null) {
        this.instances += header.phases[selection.phase]!.instances[l]!;
        this.addPhase(selection.phase, l);
      } else {
        const n = parts.clusters.get(selection.phase)!.of[l]!.members.length,
          chosen = iterationSpans(selection);
        const ranges: Range[] = !range
          ? [[0, n]]
          : selection.rest && selection.ranks === null
            ? [...chosen, [n, n] as Range].map(([from], i): Range => [i === 0 ? 0 : chosen[i - 1]![1], from])
            : chosen;
        this.instances += this.addIterations(parts, selection.phase, ranges, l);
      }
    }
    this.error = Math.sqrt(this.variance);
    this.exclusive = new Float64Array(nodes);
    this.inclusiveBy = this.byLocation.slice();
    for (let l = 0; l < locations; ++l) {
      for (let n = 0; n < nodes; ++n) this.exclusive[n]! += this.byLocation[l * nodes + n]!;
      this.addUp(this.inclusiveBy.subarray(l * nodes, (l + 1) * nodes));
    }
    this.inclusive = this.addUp(this.exclusive.slice());
    this.inclusiveError = this.addUp(this.exclusiveError.slice());
    // Sums over whole iterations are stored exactly.
    const has = (l: number): boolean => hasLocation(data, selection, l);
    if (known && range && known.sums.every((sum, l) => !has(l) || (sum && (row === 0 || !known.onlyTime[l])))) this.inclusiveError[0] = 0;
    this.maximum = new Float64Array(nodes);
    for (const l of data.mainOfRank)
      if (l >= 0 && has(l)) for (let n = 0; n < nodes; ++n) this.maximum[n] = Math.max(this.maximum[n]!, this.inclusiveBy[l * nodes + n]!);
  }

  /** Adds the values of nodes to those of their parents. */
  private addUp(values: Float64Array): Float64Array {
    const { parent } = this.data.header.nodes;
    for (let n = values.length - 1; n > 0; --n) values[parent[n]!]! += values[n]!;
    return values;
  }

  /** Adds a profile, its times by a factor of their own. */
  private add(c: Cells, profile: number, l: number, factor: number, factorOfTimes = factor, factorOfSampled = factorOfTimes): void {
    const { nodes, columns, isSampled } = this.data,
      { cells, byLocation, weights, times } = this,
      end = c.first[profile + 1]!,
      base = l * nodes;
    for (let i = c.first[profile]!; i < end; ++i) {
      const key = c.keys[i]!;
      const isSampledTime = key % columns === 0 && isSampled[key / columns],
        value = c.values[i]! * (isSampledTime ? factorOfSampled : times[key % columns] ? factorOfTimes : factor);
      cells[key]! += value;
      if (weights[key] !== 0) byLocation[base + ((key / columns) | 0)]! += value;
    }
  }

  /** All of a phase: exact, but for what samples shared out. */
  private addPhase(p: number, l: number): void {
    this.add(this.data.totals, p * this.data.locations + l, l, 1);
    this.addSampled(p, l, null);
  }

  /** Notes what samples shared out of a phase or of some iterations, `counts[c]` of each cluster.
   *  @returns how the computing time of these iterations compares to that of mean members of their clusters; null if the page does not know it */
  private addSampled(p: number, l: number, ranges: Range[] | null, counts: Float64Array | null = null): number | null {
    const { columns, isSampled, totals, locations } = this.data,
      { clusters, of } = this.pools[p]!,
      pools = of[l]!;
    if (ranges && pools.times === null) return null;
    const cells = clusters?.cells ?? totals,
      first = clusters?.of[l]!.first ?? p * locations + l,
      computing = pools.samples.map(() => 0),
      hits = pools.samples.map(() => new Map<number, number>());
    let means = 0,
      measured = 0;
    pools.ofCluster.forEach((pool, c) => {
      for (let i = cells.first[first + c]!; i < cells.first[first + c + 1]! && pool >= 0; ++i) {
        const node = cells.keys[i]! / columns;
        if (!isSampled[node]) continue; // nor if it is no time: then it is not whole
        computing[pool]! += cells.values[i]!;
        if (counts?.[c]) means += (cells.values[i]! * counts[c]!) / clusters!.sizes[first + c]!;
        hits[pool]!.set(node, (hits[pool]!.get(node) ?? 0) + cells.values[i]!);
      }
    });
    chosenOf(pools, computing, ranges).forEach(({ ns, squares, share }, pool) => {
      const stratum = this.sampled.addStratum(l, ns, squares);
      measured += ns;
      if (share === 0) return;
      for (const [node, all] of hits[pool]!) if (this.weights[node * columns] !== 0) this.sampled.addPart(node, stratum, all * share);
    });
    return pools.isWall || means === 0 ? 1 : measured / means;
  }

  private addKnown(known: Known, l: number): void {
    this.instances += known.iterations[l]!;
    this.add(known.cells, l, l, 1);
    this.untoldBy[l] = known.untold[l]!;
    for (let i = known.cells.first[l]!; i < known.cells.first[l + 1]!; ++i) {
      const key = known.cells.keys[i]!,
        error = known.errors[i]!;
      if (error !== 0) this.exact = false;
      if (this.weights[key] === 0) continue;
      this.exclusiveError[(key / this.data.columns) | 0]! += error;
      if (error === Infinity) this.estimated += known.cells.values[i]!;
    }
    const strata = known.strata[l]!.map(([ns, squares]) => this.sampled.addStratum(l, ns, squares)),
      parts = known.parts[l]!;
    for (let i = 0; i < parts.length; i += 3)
      if (this.weights[parts[i]! * this.data.columns] !== 0) this.sampled.addPart(parts[i]!, strata[parts[i + 1]!]!, parts[i + 2]!);
  }

  /** Adds iterations of a phase, with inner phases. Returns how many iterations they are. */
  private addIterations(parts: Parts, phase: number, ranges: Range[], l: number, level = 0): number {
    const clusters = parts.clusters.get(phase)!,
      own = clusters.of[l]!;
    if (own.count === 0) return 0;
    const counts = countByCluster(own, ranges),
      all = counts.reduce((x, y) => x + y, 0);
    if (all === own.members.length)
      this.addPhase(phase, l); // also what has no iteration number
    else this.addClusters(clusters, own, counts, l, this.addSampled(phase, l, ranges, counts));
    const inside = parts.inside.get(phase);
    let iterationTime = 0;
    for (let c = 0; c < own.count; ++c) iterationTime += clusters.times[own.first + c]!;
    const isComplete = iterationTime <= this.data.header.phases[phase]!.wall[l]!;
    const noted = isComplete ? Infinity : (inside?.known[l] ?? 0);
    const late = ranges.filter(([, to]) => to > noted).map(([from, to]): Range => [Math.max(from, noted), to]);
    if (late.length > 0) this.addUntold(clusters, own, countByCluster(own, late), l);
    if (inside && level < 64 && ranges.length > 0) this.addInside(parts, phase, ranges, l, level);
    return all;
  }

  /** Adds `counts[c]` mean members of each cluster.
   *  @param ratio from addSampled */
  private addClusters(clusters: Clusters, own: LocationClusters, counts: Float64Array, l: number, ratio: number | null): void {
    for (let c = 0; c < own.count; ++c) {
      const n = counts[c]!,
        size = clusters.sizes[own.first + c]!;
      if (n === 0 || size === 0) continue;
      const factor = n === size ? 1 : n / size;
      this.add(clusters.cells, own.first + c, l, factor, factor, factor * (ratio ?? 1));
      if (n === size && !clusters.rounded) continue;
      this.exact = false;
      if (n !== size) this.addUnknown(clusters.cells, own.first + c, ratio !== null);
      // A sample of n out of N members. Times of iterations tell how similar the members are.
      if (n < size) this.variance += clusters.deviations[own.first + c]! ** 2 * n * ((size - n) / Math.max(1, size - 1));
    }
  }

  /** Nothing is known about the errors of a profile's values, except of sampled ones. */
  private addUnknown(c: Cells, profile: number, exceptSampled = false): void {
    const { columns, isSampled } = this.data;
    for (let i = c.first[profile]!; i < c.first[profile + 1]!; ++i) {
      const key = c.keys[i]!,
        node = (key / columns) | 0;
      if (this.weights[key] !== 0 && !(exceptSampled && isSampled[node] && key % columns === 0)) this.exclusiveError[node] = Infinity;
    }
  }

  /** Adds time of inner phases of which the profile has nothing else. It has no call path. */
  private addUntold(clusters: Clusters, own: LocationClusters, counts: Float64Array, l: number): void {
    const { keys, values, first } = clusters.cells;
    let whole = 0,
      told = 0;
    for (let c = own.first; c < own.first + own.count; ++c) {
      const part = clusters.sizes[c] === 0 ? 0 : counts[c - own.first]! / clusters.sizes[c]!;
      if (part === 0) continue;
      whole += clusters.times[c]! * part;
      for (let i = first[c]!; i < first[c + 1]!; ++i) if (keys[i]! % this.data.columns === 0) told += values[i]! * part;
    }
    if (whole <= told * (clusters.rounded ? 1.001 : 1 + 1e-9)) return;
    this.cells[0]! += whole - told;
    this.untoldBy[l]! += whole - told;
    if (this.weights[0] !== 0) this.byLocation[l * this.data.nodes]! += whole - told;
  }

  /** Adds the inner phases: their iterations or, for phases without iterations, a share of the whole phase. */
  private addInside(parts: Parts, phase: number, ranges: Range[], l: number, level: number): void {
    const { header, totals, locations } = this.data,
      inside = parts.inside.get(phase)!,
      inner = new Map<number, Range[]>(),
      shares = new Map<number, { count: number; time: number }>();
    let r = 0,
      start = inside.first[l]!;
    for (let end = inside.first[l + 1]!; start < end;) {
      const middle = (start + end) >> 1;
      if (inside.iterations[middle]! < ranges[0]![0]) start = middle + 1;
      else end = middle;
    }
    for (let e = start; e < inside.first[l + 1]!; ++e) {
      const i = inside.iterations[e]!,
        p = inside.phases[e]!,
        count = inside.counts[e]!;
      while (r < ranges.length && ranges[r]![1] <= i) ++r;
      if (r === ranges.length) break;
      if (i < ranges[r]![0]) continue;
      if (parts.clusters.has(p)) {
        const list = inner.get(p) ?? [],
          first = inside.firsts[e]!,
          last = list[list.length - 1];
        if (last && last[1] === first) last[1] += count;
        else list.push([first, first + count]);
        inner.set(p, list);
      } else {
        const share = shares.get(p) ?? { count: 0, time: 0 };
        share.count += count;
        share.time += inside.times[e]!;
        shares.set(p, share);
      }
    }
    for (const [p, list] of [...inner].sort((x, y) => x[0] - y[0])) this.addIterations(parts, p, list, l, level + 1);
    const part = (value: number, whole: number): number => (whole ? Math.min(1, value / whole) : 0);
    for (const [p, share] of shares) {
      const time = part(share.time, header.phases[p]!.wall[l]!),
        count = part(share.count, header.phases[p]!.instances[l]!);
      this.add(totals, p * locations + l, l, count, time);
      if (time === 1 && count === 1) {
        this.addSampled(p, l, null);
        continue;
      }
      this.exact = false;
      this.addUnknown(totals, p * locations + l);
    }
  }

  /** How far the values of some nodes together may be off: what is stored with a bound, at most; and half of the 95 % interval of what is sampled. */
  errorsOf(nodes: number[], own: boolean, location = -1): { bound: number; sampling: number } {
    const bounds = own ? this.exclusiveError : this.inclusiveError;
    return { bound: nodes.reduce((sum, n) => sum + bounds[n]!, 0), sampling: this.sampled.error(nodes, !own, location) };
  }
  errorOf(nodes: number[], own: boolean, location = -1): number {
    const { bound, sampling } = this.errorsOf(nodes, own, location);
    return bound + sampling;
  }

  /** How exact a value is, as text that follows it. */
  quality(nodes: number[], own: boolean, show: (value: number) => string): string {
    const error = this.errorOf(nodes, own);
    if (error === Infinity) return " (estimate)";
    return error !== 0 ? ` ± ${show(error)}` : this.exact ? "" : " (exact)";
  }

  /** A metric over all call paths and locations. */
  total(row: number): number {
    const parts = new MetricParts(this.data, row);
    let sum = 0;
    for (let n = 0; n < this.data.nodes; ++n) for (const c of parts.columnsOf(this.data, n)) sum += this.cells[n * this.data.columns + c]!;
    return sum;
  }

  /** ns, over all locations. */
  untold(): number {
    return this.untoldBy.reduce((x, y) => x + y, 0);
  }

  /** How much longer the slowest rank takes than the mean: max / mean - 1, 0 if balanced. */
  imbalance(node: number): number {
    let sum = 0,
      n = 0;
    for (const l of this.data.mainOfRank)
      if (l >= 0 && hasLocation(this.data, this.selection, l)) {
        sum += this.inclusiveBy[l * this.data.nodes + node]!;
        ++n;
      }
    return n === 0 || sum === 0 ? 0 : this.maximum[node]! / (sum / n) - 1;
  }

  /** What totals are divided by when two selections are compared: iterations times ranks, or ranks. */
  unit(): number {
    return Math.max(1, this.selection.phase < 0 ? this.locations : this.instances);
  }
}

/** How far the difference of two means may be off; Infinity if unknown. As in `libprofile report --compare`. */
export function errorOfDifference(a: SelectionProfile, b: SelectionProfile, nodes: number[], own: boolean): number {
  const [x, y] = [a, b].map((p, i) => {
    const { bound, sampling } = p.errorsOf(nodes, own),
      isMissed = !p.sampled.has(nodes, !own) && (i === 0 ? b : a).sampled.has(nodes, !own); // what no sample hit may have some
    return { bound: bound / p.unit(), sampling: (isMissed ? p.sampled.errorOfNothing() : sampling) / p.unit() };
  });
  return x!.bound + y!.bound + Math.hypot(x!.sampling, y!.sampling);
}

/** How many iterations of the ranges each cluster has. */
function countByCluster(own: LocationClusters, ranges: Range[]): Float64Array {
  const counts = new Float64Array(own.count);
  for (const [from, to] of ranges) for (let i = from; i < Math.min(to, own.members.length); ++i) ++counts[Math.min(own.members[i]!, own.count - 1)]!;
  return counts;
}
