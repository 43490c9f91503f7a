// The profile of a selection: values by call path, by metric and by location. The arithmetic behind the three trees.
import type { Data, Known, Parts } from "./data";

/** Iterations from (including) to (excluding) of a phase; ranks likewise. phase -1: the whole run.
 *  rest: the other ranks; where all ranks are meant, the other iterations. */
export interface Selection {
  phase: number;
  from: number;
  to: number;
  ranks: [number, number] | null;
  rest?: boolean;
}

type Range = [number, number]; // iterations from (including) to (excluding)

export function isRange(data: Data, s: Selection): boolean {
  if (s.phase < 0) return false;
  const n = data.header.phases[s.phase]!.iterations ?? 0;
  return s.to > s.from && !(s.from === 0 && s.to >= n);
}

export function hasLocation(data: Data, s: Selection, l: number): boolean {
  const rank = data.header.locations.rank[l]!;
  return s.ranks === null || (rank >= s.ranks[0] && rank < s.ranks[1]) === !s.rest;
}

/** Which exclusive values a metric is made of: columns of the cells, and for times the nodes that count. */
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
  valueAt(data: Data, cells: Float64Array, node: number): number {
    const at = node * data.columns;
    if (this.isTime) return this.rows.has(data.header.nodes.row[node]!) ? cells[at]! : 0;
    let sum = 0;
    for (const c of this.columns) sum += cells[at + c]!;
    return sum;
  }
}

export class SelectionProfile {
  /** Exclusive values by node, then column, over all locations of the selection. */
  readonly cells: Float64Array;
  /** Exclusive values of the metric by location, then node. */
  readonly byLocation: Float64Array;
  /** Inclusive values of the metric by node over all locations. */
  readonly inclusive: Float64Array;
  readonly exclusive: Float64Array;
  /** Largest / mean inclusive value over the selected main threads, by node. */
  readonly maximum: Float64Array;
  readonly inclusiveBy: Float64Array;
  exact = true;
  /** Put together from what the profile holds of single iterations. */
  readonly known: boolean;
  /** How far values by node may be off; Infinity: nobody knows. Inclusive: as far as its parts may be. */
  readonly exclusiveError: Float64Array;
  readonly inclusiveError: Float64Array;
  /** Part of the metric, over all nodes, whose error nobody knows. */
  estimated = 0;
  /** Standard error of the time of the selection, ns (independent locations). */
  error = 0;
  /** Time in phases inside the iterations, in ns and by location, of which the profile tells nothing else: their other metrics, and what
   *  call paths had of it, nobody knows. */
  readonly untoldBy: Float64Array;
  /** Iterations times locations. */
  instances = 0;
  locations = 0;
  readonly parts: MetricParts;

  constructor(
    readonly data: Data,
    readonly selection: Selection,
    row: number,
    parts: Parts | null,
    known: Known | null = null,
  ) {
    const { nodes, columns, locations } = data;
    this.parts = new MetricParts(data, row);
    this.cells = new Float64Array(nodes * columns);
    this.byLocation = new Float64Array(nodes * locations);
    this.exclusiveError = new Float64Array(nodes);
    this.untoldBy = new Float64Array(locations);
    this.known = known !== null;
    const weights = new Uint8Array(nodes * columns);
    for (let n = 0; n < nodes; ++n) {
      if (this.parts.isTime) weights[n * columns] = this.parts.rows.has(data.header.nodes.row[n]!) ? 1 : 0;
      else for (const c of this.parts.columns) weights[n * columns + c] = 1;
    }
    const times = data.header.columns.map((name) => data.header.metrics.some((m) => m.name === name && m.unit === "ns"));
    const add = (c: { first: Uint32Array; keys: Uint32Array; values: Float64Array }, profile: number, l: number, factor: number, ofTimes = factor): void => {
      const end = c.first[profile + 1]!;
      const base = l * nodes;
      for (let i = c.first[profile]!; i < end; ++i) {
        const key = c.keys[i]!;
        const value = c.values[i]! * (times[key % columns] ? ofTimes : factor);
        this.cells[key]! += value;
        if (weights[key] !== 0) this.byLocation[base + ((key / columns) | 0)]! += value;
      }
    };
    const range = isRange(data, selection);
    let variance = 0;
    let sums = true;
    /** What iterations of a phase have, with all that lies inside them; returns how many they are. */
    const addIterations = (phase: number, ranges: Range[], l: number, level: number): number => {
      const clusters = parts!.clusters.get(phase)!,
        own = clusters.of[l]!;
      if (own.count === 0) return 0;
      const counts = new Float64Array(own.count);
      let all = 0;
      for (const [from, to] of ranges) for (let i = from; i < Math.min(to, own.members.length); ++i, ++all) ++counts[Math.min(own.members[i]!, own.count - 1)]!;
      if (all === own.members.length)
        add(data.totals, phase * locations + l, l, 1); // with what has no number
      else
        for (let c = 0; c < own.count; ++c) {
          const n = counts[c]!,
            size = clusters.sizes[own.first + c]!;
          if (n === 0 || size === 0) continue;
          add(clusters.cells, own.first + c, l, n === size ? 1 : n / size);
          if (n === size && !clusters.rounded) continue;
          this.exact = false;
          // A sample of n out of N members, as far as times of iterations tell how alike the members are.
          if (n < size) variance += clusters.deviations[own.first + c]! ** 2 * n * ((size - n) / Math.max(1, size - 1));
        }
      const inside = parts!.inside.get(phase),
        wall = data.header.phases[phase]!;
      let iterationTime = 0;
      for (let c = 0; c < own.count; ++c) iterationTime += clusters.times[own.first + c]!;
      const noted = iterationTime <= wall.wall[l]! ? Infinity : (inside?.known[l] ?? 0);
      if (ranges.some(([, to]) => to > noted)) {
        // Time of phases inside of which the profile tells nothing else has no call path.
        const late = new Float64Array(own.count);
        for (const [from, to] of ranges)
          for (let i = Math.max(from, noted); i < Math.min(to, own.members.length); ++i) ++late[Math.min(own.members[i]!, own.count - 1)]!;
        let whole = 0,
          told = 0;
        for (let c = 0; c < own.count; ++c) {
          const size = clusters.sizes[own.first + c]!,
            part = size === 0 ? 0 : late[c]! / size;
          if (part === 0) continue;
          whole += clusters.times[own.first + c]! * part;
          for (let i = clusters.cells.first[own.first + c]!; i < clusters.cells.first[own.first + c + 1]!; ++i)
            if (clusters.cells.keys[i]! % columns === 0) told += clusters.cells.values[i]! * part;
        }
        if (whole > told * (clusters.rounded ? 1.001 : 1 + 1e-9)) {
          this.cells[0]! += whole - told;
          this.untoldBy[l]! += whole - told;
          if (weights[0] !== 0) this.byLocation[l * nodes]! += whole - told;
        }
      }
      if (!inside || level > 63 || ranges.length === 0) return all;
      const inner = new Map<number, Range[]>(),
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
          p = inside.phases[e]!;
        while (r < ranges.length && ranges[r]![1] <= i) ++r;
        if (r === ranges.length) break;
        if (i < ranges[r]![0]) continue;
        if (parts!.clusters.has(p)) {
          const list = inner.get(p) ?? [],
            first = inside.firsts[e]!,
            last = list[list.length - 1];
          if (last && last[1] === first) last[1] += inside.counts[e]!;
          else list.push([first, first + inside.counts[e]!]);
          inner.set(p, list);
        } else {
          const share = shares.get(p) ?? { count: 0, time: 0 };
          share.count += inside.counts[e]!;
          share.time += inside.times[e]!;
          shares.set(p, share);
        }
      }
      for (const [p, list] of inner) addIterations(p, list, l, level + 1);
      for (const [p, share] of shares) {
        const h = data.header.phases[p]!,
          time = h.wall[l] ? Math.min(1, share.time / h.wall[l]!) : 0,
          count = h.instances[l] ? Math.min(1, share.count / h.instances[l]!) : 0;
        if (time < 1 || count < 1) this.exact = false;
        add(data.totals, p * locations + l, l, count, time);
      }
      return all;
    };
    for (let l = 0; l < locations; ++l) {
      if (!hasLocation(data, selection, l)) continue;
      ++this.locations;
      if (selection.phase < 0) {
        for (let p = 0; p < data.header.phases.length; ++p) add(data.totals, p * locations + l, l, 1);
        continue;
      }
      if (known && range) {
        this.instances += known.iterations[l]!;
        add(known.cells, l, l, 1);
        this.untoldBy[l] = known.untold[l]!;
        sums &&= known.sums[l]! && (row === 0 || !known.onlyTime[l]!);
        for (let i = known.cells.first[l]!; i < known.cells.first[l + 1]!; ++i) {
          const key = known.cells.keys[i]!,
            error = known.errors[i]!;
          if (error !== 0) this.exact = false;
          if (weights[key] === 0) continue;
          this.exclusiveError[(key / columns) | 0]! += error;
          if (error === Infinity) this.estimated += known.cells.values[i]!;
        }
        continue;
      }
      if (parts === null) {
        this.instances += data.header.phases[selection.phase]!.instances[l]!;
        add(data.totals, selection.phase * locations + l, l, 1);
        continue;
      }
      const n = parts.clusters.get(selection.phase)!.of[l]!.members.length;
      const some: Range[] = !range
        ? [[0, n]]
        : selection.rest && selection.ranks === null
          ? [
              [0, selection.from],
              [selection.to, n],
            ]
          : [[selection.from, selection.to]];
      this.instances += addIterations(selection.phase, some, l, 0);
    }
    this.error = Math.sqrt(variance);
    this.exclusive = new Float64Array(nodes);
    this.inclusiveBy = this.byLocation.slice();
    const parent = data.header.nodes.parent;
    for (let l = 0; l < locations; ++l) {
      const base = l * nodes;
      for (let n = 0; n < nodes; ++n) this.exclusive[n]! += this.byLocation[base + n]!;
      for (let n = nodes - 1; n > 0; --n) this.inclusiveBy[base + parent[n]!]! += this.inclusiveBy[base + n]!;
    }
    this.inclusive = this.exclusive.slice();
    for (let n = nodes - 1; n > 0; --n) this.inclusive[parent[n]!]! += this.inclusive[n]!;
    this.inclusiveError = this.exclusiveError.slice();
    for (let n = nodes - 1; n > 0; --n) this.inclusiveError[parent[n]!]! += this.inclusiveError[n]!;
    // Whole iterations are kept exactly.
    if (known && sums) this.inclusiveError[0] = 0;
    this.maximum = new Float64Array(nodes);
    for (const l of data.mainOfRank) {
      if (l < 0 || !hasLocation(data, selection, l)) continue;
      for (let n = 0; n < nodes; ++n) this.maximum[n] = Math.max(this.maximum[n]!, this.inclusiveBy[l * nodes + n]!);
    }
  }

  /** How good a value is, for a text that follows it. */
  quality(node: number, own: boolean, show: (value: number) => string): string {
    if (this.exact) return "";
    if (!this.known) return " (estimate)";
    const error = (own ? this.exclusiveError : this.inclusiveError)[node]!;
    return error === 0 ? " (exact)" : error === Infinity ? " (estimate)" : ` ± ${show(error)}`;
  }

  /** Of a metric over all call paths and locations. */
  total(row: number): number {
    const parts = new MetricParts(this.data, row);
    let sum = 0;
    for (let n = 0; n < this.data.nodes; ++n) sum += parts.valueAt(this.data, this.cells, n);
    return sum;
  }

  /** ns, over all locations. */
  untold(): number {
    return this.untoldBy.reduce((x, y) => x + y, 0);
  }

  mains(): number {
    let n = 0;
    for (const l of this.data.mainOfRank) n += l >= 0 && hasLocation(this.data, this.selection, l) ? 1 : 0;
    return n;
  }

  /** How much longer the slowest rank takes than the mean: 0 balanced; max / mean - 1. */
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
