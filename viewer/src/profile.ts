// The profile of a selection: values by call path, by metric and by location. This is the arithmetic behind the three trees.
import type { Clusters, LocationClusters, Parts } from "./clusters";
import type { Cells } from "./columns";
import type { Data } from "./data";
import type { Known } from "./known";
import { hasLocation, isRange, type Selection } from "./selection";

type Range = [number, number]; // iterations from (included) to (excluded)

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
  /** How far values by node may be off, Infinity if unknown. An inclusive value is off by at most the sum of its parts. */
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
    known: Known | null = null,
  ) {
    const { nodes, columns, locations, header } = data;
    this.parts = new MetricParts(data, row);
    this.cells = new Float64Array(nodes * columns);
    this.byLocation = new Float64Array(nodes * locations);
    this.exclusiveError = new Float64Array(nodes);
    this.untoldBy = new Float64Array(locations);
    this.known = known !== null;
    this.weights = new Uint8Array(nodes * columns);
    for (let n = 0; n < nodes; ++n) for (const c of this.parts.columnsOf(data, n)) this.weights[n * columns + c] = 1;
    this.times = header.columns.map((name) => header.metrics.some((m) => m.name === name && m.unit === "ns"));
    const range = isRange(data, selection);
    for (let l = 0; l < locations; ++l) {
      if (!hasLocation(data, selection, l)) continue;
      ++this.locations;
      if (selection.phase < 0) for (let p = 0; p < header.phases.length; ++p) this.add(data.totals, p * locations + l, l, 1);
      else if (known && range) this.addKnown(known, l);
      else if (parts === null) {
        this.instances += header.phases[selection.phase]!.instances[l]!;
        this.add(data.totals, selection.phase * locations + l, l, 1);
      } else {
        const n = parts.clusters.get(selection.phase)!.of[l]!.members.length,
          { from, to } = selection;
        const ranges: Range[] = !range
          ? [[0, n]]
          : selection.rest && selection.ranks === null
            ? [
                [0, from],
                [to, n],
              ]
            : [[from, to]];
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
  private add(c: Cells, profile: number, l: number, factor: number, factorOfTimes = factor): void {
    const { nodes, columns } = this.data,
      { cells, byLocation, weights, times } = this,
      end = c.first[profile + 1]!,
      base = l * nodes;
    for (let i = c.first[profile]!; i < end; ++i) {
      const key = c.keys[i]!;
      const value = c.values[i]! * (times[key % columns] ? factorOfTimes : factor);
      cells[key]! += value;
      if (weights[key] !== 0) byLocation[base + ((key / columns) | 0)]! += value;
    }
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
  }

  /** Adds iterations of a phase, with inner phases. Returns how many iterations they are. */
  private addIterations(parts: Parts, phase: number, ranges: Range[], l: number, level = 0): number {
    const clusters = parts.clusters.get(phase)!,
      own = clusters.of[l]!;
    if (own.count === 0) return 0;
    const counts = countByCluster(own, ranges),
      all = counts.reduce((x, y) => x + y, 0);
    if (all === own.members.length)
      this.add(this.data.totals, phase * this.data.locations + l, l, 1); // also what has no iteration number
    else this.addClusters(clusters, own, counts, l);
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

  /** Adds `counts[c]` mean members of each cluster. */
  private addClusters(clusters: Clusters, own: LocationClusters, counts: Float64Array, l: number): void {
    for (let c = 0; c < own.count; ++c) {
      const n = counts[c]!,
        size = clusters.sizes[own.first + c]!;
      if (n === 0 || size === 0) continue;
      this.add(clusters.cells, own.first + c, l, n === size ? 1 : n / size);
      if (n === size && !clusters.rounded) continue;
      this.exact = false;
      // A sample of n out of N members. Times of iterations tell how similar the members are.
      if (n < size) this.variance += clusters.deviations[own.first + c]! ** 2 * n * ((size - n) / Math.max(1, size - 1));
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
    for (const [p, list] of inner) this.addIterations(parts, p, list, l, level + 1);
    const part = (value: number, whole: number): number => (whole ? Math.min(1, value / whole) : 0);
    for (const [p, share] of shares) {
      const time = part(share.time, header.phases[p]!.wall[l]!),
        count = part(share.count, header.phases[p]!.instances[l]!);
      if (time < 1 || count < 1) this.exact = false;
      this.add(totals, p * locations + l, l, count, time);
    }
  }

  /** How exact a value is, as text that follows it. */
  quality(node: number, own: boolean, show: (value: number) => string): string {
    return this.qualityOf((own ? this.exclusiveError : this.inclusiveError)[node]!, show);
  }
  /** The same for a sum of values, whose errors were added up. */
  qualityOf(error: number, show: (value: number) => string): string {
    if (this.exact) return "";
    if (!this.known) return " (estimate)";
    return error === 0 ? " (exact)" : error === Infinity ? " (estimate)" : ` ± ${show(error)}`;
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

/** How many iterations of the ranges each cluster has. */
function countByCluster(own: LocationClusters, ranges: Range[]): Float64Array {
  const counts = new Float64Array(own.count);
  for (const [from, to] of ranges) for (let i = from; i < Math.min(to, own.members.length); ++i) ++counts[Math.min(own.members[i]!, own.count - 1)]!;
  return counts;
}
