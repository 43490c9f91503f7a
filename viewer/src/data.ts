// The profile inside the page. Columns are decoded when they are first used, and kept.
import { BottomUp } from "./bottom_up";
import { readClusters, readInside, type Clusters, type Inside, type Parts } from "./clusters";
import { ask, beginSnapshot, bytesOf, cellsOf, numbersByName, numbersOf, seriesOf, type Cells } from "./columns";
import type { Header, MapHeader } from "./header";
import { readBegins, type Begins } from "./strip/begins";
import { readPools, type Pools } from "./pools";
import { knownParameters, readKnown, type Known } from "./known";
import type { Selection } from "./selection";

/** Values over ranks, by iteration. */
export interface Spread {
  minimum: Float64Array;
  median: Float64Array;
  maximum: Float64Array;
  sum: Float64Array;
  slowest: Float64Array;
  ranks: Float64Array; // 0 if nothing is known
}

export interface PhasePools {
  clusters: Clusters | null; // null if the phase has no iterations
  of: Pools;
}

export class Data {
  readonly header: Header;
  readonly nodes: number;
  readonly columns: number;
  readonly locations: number;
  totals!: Cells;
  /** Location of the main thread of each rank, -1 if it has no data. */
  readonly mainOfRank: Int32Array;
  /** Nodes whose computing time samples shared out. */
  readonly isSampled: boolean[];
  private cache = new Map<string, Promise<unknown>>();

  constructor() {
    this.header = JSON.parse(document.getElementById("header")!.textContent!) as Header;
    beginSnapshot(this.header.snapshot);
    this.nodes = this.header.nodes.parent.length;
    this.columns = this.header.columns.length;
    this.locations = this.header.locations.rank.length;
    const computing = this.header.metrics.findIndex((m) => m.name === "execution"),
      { kind, row } = this.header.nodes;
    this.isSampled = row.map((r, n) => n !== 0 && r === computing && kind[n] !== "quota" && kind[n] !== "not_sampled");
    this.mainOfRank = new Int32Array(this.header.job.ranks).fill(-1);
    this.header.locations.rank.forEach((rank, l) => {
      if (this.header.locations.thread[l] === 0 && rank < this.mainOfRank.length) this.mainOfRank[rank] = l;
    });
  }

  async load(): Promise<void> {
    this.totals = await cellsOf(this.header.totals);
  }

  private once<T>(key: string, make: () => Promise<T>): Promise<T> {
    if (!this.cache.has(key)) {
      const made = make();
      this.cache.set(key, made);
      made.catch(() => this.cache.delete(key)); // the next try may work
    }
    return this.cache.get(key) as Promise<T>;
  }

  private fromBelow: BottomUp | null = null;
  /** Functions and their callers, made when somebody looks at them. */
  bottomUp(): BottomUp {
    return (this.fromBelow ??= new BottomUp(this));
  }

  phaseName(p: number): string {
    return this.header.phases[p]!.name || "(outside all phases)";
  }

  map(p: number, name: string): MapHeader | undefined {
    return this.header.phases[p]?.maps?.find((m) => m.name === name);
  }

  /** Asks the server for a map that is not in the page. */
  obtainMap(p: number, name: string): Promise<MapHeader | undefined> {
    const phase = this.header.phases[p],
      there = this.map(p, name);
    if (there || !this.header.served || !phase?.left_out?.some((m) => m.name === name)) return Promise.resolve(there);
    return this.once(`map ${p} ${name}`, async () => {
      const { map } = await ask<{ map: MapHeader }>("map", { phase: p, metric: name });
      phase.maps!.push(map);
      phase.left_out = phase.left_out!.filter((m) => m.name !== name);
      return map;
    });
  }

  /** Asks the server for the values of one rank, plus 1. 0 means no value. */
  row(p: number, map: MapHeader, rank: number): Promise<Float64Array> {
    return this.once(`row ${p} ${map.name} ${rank}`, async () =>
      numbersOf((await ask<{ values: number }>("row", { phase: p, metric: map.name, rank })).values),
    );
  }

  private known = new Map<string, Promise<Known>>();
  /** What the profile holds of a range of iterations. The last ones are kept. */
  knownOf(s: Selection): Promise<Known> {
    const parameters = knownParameters(s),
      key = JSON.stringify(parameters);
    let found = this.known.get(key);
    if (found) return found;
    found = readKnown(parameters);
    this.known.set(key, found);
    found.catch(() => this.known.delete(key));
    if (this.known.size > 8) this.known.delete(this.known.keys().next().value!);
    return found;
  }

  spread(p: number, map: MapHeader): Promise<Spread> {
    return this.once(`spread ${p} ${map.name}`, async () => {
      const s = map.spread;
      const [minimum, median, maximum, sum] = (await Promise.all([s.minimum, s.twice_median, s.maximum, s.sum].map(seriesOf))) as Float64Array[];
      for (let i = 0; i < median!.length; ++i) median![i]! /= 2;
      return { minimum: minimum!, median: median!, maximum: maximum!, sum: sum!, ...(await numbersByName(s, ["slowest", "ranks"])) };
    });
  }

  /** Levels by rank, then iteration. */
  levels(p: number, map: MapHeader): Promise<Uint8Array> {
    return this.once(`levels ${p} ${map.name}`, async () => {
      const bytes = await bytesOf(map.levels);
      const iterations = this.header.phases[p]!.iterations!;
      for (let start = 0; start < bytes.length; start += iterations) {
        let level = 0;
        const end = Math.min(start + iterations, bytes.length);
        for (let i = start; i < end; ++i) bytes[i] = level = (level + bytes[i]!) & 255;
      }
      return bytes;
    });
  }

  /** Exact values plus 1. 0 means no value. Only small pages have them. */
  values(p: number, map: MapHeader): Promise<Float64Array | null> {
    return this.once(`values ${p} ${map.name}`, async () => (map.values === undefined ? null : numbersOf(map.values)));
  }

  clusters(p: number): Promise<Clusters> {
    return this.once(`clusters ${p}`, () => readClusters(this.header.phases[p]!.clusters!));
  }

  /** By phase: the pools of samples, and the clusters that are in them. */
  pools(): Promise<PhasePools[]> {
    return this.once("pools", () =>
      Promise.all(
        this.header.phases.map(async (phase, p) => {
          const clusters = phase.clusters ? await this.clusters(p) : null;
          return { clusters, of: await readPools(phase.samples, clusters) };
        }),
      ),
    );
  }

  inside(p: number): Promise<Inside | null> {
    return this.once(`inside ${p}`, async () => {
      const header = this.header.phases[p]!.inside;
      return header ? readInside(header) : null;
    });
  }

  /** Null if the phase has no iterations. */
  begins(p: number): Promise<Begins | null> {
    return this.once(`begins ${p}`, async () => {
      const header = this.header.phases[p]?.begins;
      return header ? readBegins(header) : null;
    });
  }

  /** For a phase with iterations. */
  async parts(p: number): Promise<Parts> {
    const parts: Parts = { clusters: new Map(), inside: new Map() },
      wanted = [p];
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      if (parts.clusters.has(next)) continue;
      parts.clusters.set(next, await this.clusters(next));
      const inside = await this.inside(next);
      if (!inside) continue;
      parts.inside.set(next, inside);
      for (const phase of new Set(inside.phases)) if (this.header.phases[phase]!.clusters) wanted.push(phase);
    }
    return parts;
  }
}
