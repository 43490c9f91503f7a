// The profile inside the page: a JSON header, and columns of numbers that are decoded when they are first used.

export interface Metric {
  name: string;
  unit: string;
  label: string;
  description: string;
  parent: number;
  time: boolean;
  column: number;
}
interface CellColumns {
  counts: number;
  keys: number;
  mantissas: number;
  exponents: number;
}
export interface MapHeader {
  name: string;
  label: string;
  unit: string;
  description: string;
  exact: boolean;
  told: boolean;
  bounds: number[];
  levels: number;
  values?: number;
  spread: { minimum: number; twice_median: number; maximum: number; sum: number; slowest: number; ranks: number };
}
export interface PhaseHeader {
  name: string;
  kind: "outside" | "aggregate" | "iterations";
  wall: number[];
  inclusive: number[];
  instances: number[];
  frame?: boolean;
  iterations?: number;
  change?: string[];
  maps?: MapHeader[];
  left_out?: { name: string; label: string }[];
  clusters?: {
    counts: number[];
    lengths: number[];
    sizes: number;
    classes: number;
    times: number;
    deviations: number;
    members: number;
    kinds: number;
    rounded: boolean;
    cells: CellColumns;
  };
  inside?: { lengths: number[]; known: number[]; iterations: number; phases: number; counts: number; firsts: number; times: number } | null;
  accuracy?: Record<string, { largest_error: number; sum_of_errors: number; cells: number }>;
}
export interface Header {
  served: boolean; // the page may ask where it came from for what it does not have
  job: {
    command: string;
    executable: string;
    folder: string;
    mpi: string;
    version: string;
    line: string;
    ranks: number;
    configuration: string;
    complete: boolean;
    losses: { group: "missing" | "loss" | "remark"; kind: string; sentence: string }[];
  };
  locations: {
    rank: number[];
    thread: number[];
    host: number[];
    wall: number[];
    hosts: string[];
    core: number[];
    numa_node: number[];
    moves: number[]; // where it was last seen; -1: unknown
    machines: string[]; // what the hosts are
  };
  metrics: Metric[];
  columns: string[];
  nodes: { parent: number[]; kind: string[]; name: string[]; place: string[]; file: string[]; row: number[] };
  /** Named regions and instrumented functions; `map`: the name of its value map, if it may have one; `counted`: by counter, of named ones. */
  regions: {
    rows: { kind: string; name: string; map: string; place: string; visits: number; time: number; own: number; counted: number[] }[];
    counters: string[];
    functions_left_out: number;
  };
  totals: CellColumns;
  phases: PhaseHeader[];
  /** What `libprofile report` says on its first screen. */
  answers: {
    list: { key: string; question: string; sentences: string[] }[];
    nameless: string[];
    parts: { name: string; share: number; text: string; range: string }[];
    hottest: { text: string; function: string }[];
  };
}

/** Profiles one after the other: those of number p are entries first[p] up to first[p + 1]. */
export interface Cells {
  first: Uint32Array;
  keys: Uint32Array;
  values: Float64Array;
}

export interface Spread {
  minimum: Float64Array;
  median: Float64Array;
  maximum: Float64Array;
  sum: Float64Array;
  slowest: Float64Array;
  ranks: Float64Array;
}

/** What the profile holds of single iterations, summed over some of them: a profile per location. */
export interface Known {
  cells: Cells;
  errors: Float64Array;
  iterations: number[];
  sums: boolean[];
  onlyTime: boolean[];
  untold: number[];
}
interface Answer {
  first: number;
  columns: string[];
}

/** Of one location in one phase; the last cluster is the rest; none where the location does not have the phase. */
export interface LocationClusters {
  first: number;
  count: number;
  members: Uint8Array | Uint16Array;
}
export interface Clusters {
  rounded: boolean;
  of: LocationClusters[];
  sizes: Float64Array;
  classes: Float64Array;
  times: Float64Array;
  deviations: Float64Array;
  kinds: Float64Array;
  cells: Cells;
}

/** What lies inside the iterations of a phase, an entry each; those of location l are `first[l]` up to `first[l + 1]`, of its first
 *  `known[l]` iterations. Of phases without iterations `counts` is how often they were entered, and `times` their time there. */
export interface Inside {
  first: number[];
  known: number[];
  iterations: Float64Array;
  phases: Float64Array;
  counts: Float64Array;
  firsts: Float64Array;
  times: Float64Array;
}
/** What it takes to tell what some iterations of a phase have: the clusters of it and of the phases inside, and which those are. */
export interface Parts {
  clusters: Map<number, Clusters>;
  inside: Map<number, Inside>;
}

function unpacked(base64: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Columns that came later, as answers, until they are read. */
const late = new Map<number, string>();

async function bytesOf(column: number): Promise<Uint8Array> {
  const packed = unpacked(late.get(column) ?? document.getElementById("column-" + column)!.textContent!);
  late.delete(column);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** LEB128; exact up to 2^53. */
async function numbersOf(column: number): Promise<Float64Array> {
  return numbersIn(await bytesOf(column));
}

function numbersIn(bytes: Uint8Array): Float64Array {
  let n = 0;
  for (let i = 0; i < bytes.length; ++i) n += bytes[i]! < 128 ? 1 : 0;
  const out = new Float64Array(n);
  for (let i = 0, at = 0; at < n; ++at) {
    let byte = bytes[i++]!;
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[i++]!;
      value += (byte & 127) * factor;
    }
    out[at] = value;
  }
  return out;
}

/** Differences, zigzag. */
async function seriesOf(column: number): Promise<Float64Array> {
  const out = await numbersOf(column);
  let before = 0;
  for (let i = 0; i < out.length; ++i) {
    const coded = out[i]!;
    before += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    out[i] = before;
  }
  return out;
}

async function cellsOf(header: CellColumns): Promise<Cells> {
  const [counts, keys, mantissas, exponents] = (await Promise.all([header.counts, header.keys, header.mantissas, header.exponents].map(numbersOf))) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const first = new Uint32Array(counts.length + 1);
  const absolute = new Uint32Array(keys.length);
  const values = mantissas;
  let at = 0;
  for (let p = 0; p < counts.length; ++p) {
    let key = 0;
    for (let k = counts[p]!; k > 0; --k, ++at) {
      absolute[at] = key += keys[at]!;
      if (exponents[at] !== 0) values[at] = values[at]! * 2 ** exponents[at]!;
    }
    first[p + 1] = at;
  }
  return { first, keys: absolute, values };
}

/** Asks where the page came from; only where it is served. */
async function ask<T>(name: string, parameters: Record<string, string | number>): Promise<T & Answer> {
  const query = new URLSearchParams(Object.entries(parameters).map(([key, value]) => [key, String(value)]));
  let response: Response;
  try {
    response = await fetch(`${name}?${query}`);
  } catch {
    throw new Error("libprofile view --serve has ended; start it again");
  }
  const answer = (await response.json()) as T & Answer & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? `libprofile view answered ${response.status}`);
  answer.columns.forEach((text, i) => late.set(answer.first + i, text));
  return answer;
}

export class Data {
  readonly header: Header;
  readonly nodes: number;
  readonly columns: number;
  readonly locations: number;
  totals!: Cells;
  /** Location of the main thread of each rank; -1 without data. */
  readonly mainOfRank: Int32Array;
  private cache = new Map<string, Promise<unknown>>();

  constructor() {
    this.header = JSON.parse(document.getElementById("header")!.textContent!) as Header;
    this.nodes = this.header.nodes.parent.length;
    this.columns = this.header.columns.length;
    this.locations = this.header.locations.rank.length;
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
      made.catch(() => this.cache.delete(key)); // it may work the next time
    }
    return this.cache.get(key) as Promise<T>;
  }

  phaseName(p: number): string {
    return this.header.phases[p]!.name || "(outside all phases)";
  }

  map(p: number, name: string): MapHeader | undefined {
    return this.header.phases[p]?.maps?.find((m) => m.name === name);
  }

  /** A map that is not in the page, where the page can ask for it. */
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

  /** Values of one rank plus 1, 0 where there is none, where the page can ask for them. */
  row(p: number, map: MapHeader, rank: number): Promise<Float64Array> {
    return this.once(`row ${p} ${map.name} ${rank}`, async () =>
      numbersOf((await ask<{ values: number }>("row", { phase: p, metric: map.name, rank })).values),
    );
  }

  /** The last ones are kept. */
  private known = new Map<string, Promise<Known>>();
  knownOf(s: { phase: number; from: number; to: number; ranks: [number, number] | null; rest?: boolean }): Promise<Known> {
    // Which ranks it is about does not matter for "all but these ranks": all of them come.
    const some = s.ranks !== null && !s.rest;
    const parameters = {
      phase: s.phase,
      from: s.from,
      to: s.to,
      ...(s.rest && s.ranks === null ? { rest: 1 } : {}),
      ...(some ? { first_rank: s.ranks![0], end_rank: s.ranks![1] } : {}),
    };
    const key = JSON.stringify(parameters);
    let found = this.known.get(key);
    if (found) return found;
    found = (async () => {
      const answer = await ask<{
        cells: { counts: number; keys: number; values: number; errors: number };
        iterations: number[];
        sums: boolean[];
        only_time: boolean[];
        untold: number[];
      }>("profile", parameters);
      const c = answer.cells;
      const [counts, keys, values, errors] = (await Promise.all([c.counts, c.keys, c.values, c.errors].map(numbersOf))) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const first = new Uint32Array(counts.length + 1),
        absolute = new Uint32Array(keys.length);
      for (let p = 0, at = 0; p < counts.length; first[++p] = at) for (let k = counts[p]!, key = 0; k > 0; --k, ++at) absolute[at] = key += keys[at]!;
      for (let i = 0; i < errors.length; ++i) errors[i] = errors[i] === 0 ? Infinity : errors[i]! - 1;
      return {
        cells: { first, keys: absolute, values },
        errors,
        iterations: answer.iterations,
        sums: answer.sums,
        onlyTime: answer.only_time,
        untold: answer.untold,
      };
    })();
    this.known.set(key, found);
    found.catch(() => this.known.delete(key));
    if (this.known.size > 8) this.known.delete(this.known.keys().next().value!);
    return found;
  }

  /** Tells the server that somebody looks at the page, and when nobody does any more. */
  stayInTouch(): void {
    if (!this.header.served) return;
    const page = Math.random().toString(36).slice(2);
    const alive = (): void => void fetch("alive?page=" + page).catch(() => {});
    alive();
    setInterval(alive, 60000);
    addEventListener("pageshow", (e) => {
      if (e.persisted) alive();
    });
    addEventListener("pagehide", () => void navigator.sendBeacon("closed?page=" + page));
  }

  spread(p: number, map: MapHeader): Promise<Spread> {
    return this.once(`spread ${p} ${map.name}`, async () => {
      const s = map.spread;
      const [minimum, median, maximum, sum] = (await Promise.all([s.minimum, s.twice_median, s.maximum, s.sum].map(seriesOf))) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const [slowest, ranks] = (await Promise.all([s.slowest, s.ranks].map(numbersOf))) as [Float64Array, Float64Array];
      for (let i = 0; i < median.length; ++i) median[i] = median[i]! / 2;
      return { minimum, median, maximum, sum, slowest, ranks };
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

  /** Exact values plus 1, 0 where there is none; only in small pages. */
  values(p: number, map: MapHeader): Promise<Float64Array | null> {
    return this.once(`values ${p} ${map.name}`, async () => (map.values === undefined ? null : numbersOf(map.values)));
  }

  clusters(p: number): Promise<Clusters> {
    return this.once(`clusters ${p}`, async () => {
      const h = this.header.phases[p]!.clusters!;
      const [sizes, classes, times, deviations, kinds] = (await Promise.all([h.sizes, h.classes, h.times, h.deviations, h.kinds].map(numbersOf))) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      // Ten million small numbers are bytes already.
      const bytes = await bytesOf(h.members),
        all = h.lengths.reduce((x, y) => x + y, 0);
      const members = bytes.length === all ? bytes : Uint16Array.from(numbersIn(bytes));
      const of: LocationClusters[] = [];
      let first = 0,
        at = 0;
      h.counts.forEach((count, l) => {
        const length = h.lengths[l]!;
        of.push({ first, count, members: members.subarray(at, at + length) });
        at += length;
        first += count;
      });
      return { rounded: h.rounded, of, sizes, classes, times, deviations, kinds, cells: await cellsOf(h.cells) };
    });
  }

  inside(p: number): Promise<Inside | null> {
    return this.once(`inside ${p}`, async () => {
      const h = this.header.phases[p]!.inside;
      if (!h) return null;
      const [iterations, phases, counts, firsts, times] = (await Promise.all([h.iterations, h.phases, h.counts, h.firsts, h.times].map(numbersOf))) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const first = [0];
      for (const length of h.lengths) first.push(first[first.length - 1]! + length);
      for (let l = 0; l < h.lengths.length; ++l) for (let i = first[l]! + 1; i < first[l + 1]!; ++i) iterations[i]! += iterations[i - 1]!;
      return { first, known: h.known, iterations, phases, counts, firsts, times };
    });
  }

  /** Of a phase with iterations. */
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

  /** What text, JSON and the page call a cluster; `c` is its place by size on that location. */
  clusterName(clusters: Clusters, l: number, c: number): string {
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
}

/** A to Z, then AA, AB and so on. */
export function kindLetters(kind: number): string {
  let letters = "";
  for (let left = kind + 1; left > 0; left = Math.floor((left - 1) / 26)) letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return letters;
}
