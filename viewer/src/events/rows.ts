// The rows of the timeline: what each thread did, decoded from the columns of the page. Times of a row are those of its rank's clock.
import { numbersByName, numbersOf, unzigzag } from "../columns";
import type { EventsHeader, Header } from "../header";
import { readCollectives, type Collectives } from "./collectives";
import { readCounters } from "./counters";
import { readMessages, type Messages } from "./messages";
import { mixedSegments, readRuns, type PixelRow } from "./mixed";
import { flattened, Segments, type Base } from "./segments";
import { laidOver, readTasks, RunColumns, type Tasks } from "./tasks";

export interface Parts {
  begin: Float64Array;
  end: Float64Array;
  phase: Int32Array; // -2: a window of time, -1: an iteration of an unknown phase
  number: Float64Array;
  reasons: Float64Array; // 1: its turn, 2: slow, 4: first of its kind
}
/** Calls and regions in the order of their begins, outer ones first; then, from `runs` on, stretches of tasks in the same order. */
export interface Calls {
  begin: Float64Array;
  end: Float64Array;
  node: Uint32Array;
  state: Uint8Array; // the number of states: a region
  runs: number; // of calls and regions
  task: Int32Array; // of each stretch: its number in Tasks; -1: created where no events were kept
  ranOn: Int32Array | null; // of each: the NUMA node of the processor on which it ended, -1: not known; null: the profile knows one node at most
}
export interface Inners {
  begin: Float64Array;
  end: Float64Array;
  phase: Float64Array; // -1: unknown
  number: Float64Array;
}
export interface Stretches {
  begin: Float64Array;
  end: Float64Array;
  phase: Float64Array;
  first: Float64Array;
  count: Float64Array;
  isExact: Float64Array;
  sums: Float64Array;
}
export interface EventRow {
  location: number;
  rank: number;
  thread: number;
  name: string;
  parts: Parts;
  calls: Calls;
  bases: Base[];
  inners: Inners;
  stretches: Stretches;
  states: Segments;
  regions: Segments | null;
  /** Its states are those of pixels; it has no calls. */
  isMixed: boolean;
  pixels: PixelRow | null; // that these are of
  /** From the rank's clock to the axis, and back. */
  place(own: number): number;
  own(place: number): number;
}
/** A counter that was read at some times of each row; null: never. */
export interface Counter {
  name: string;
  unit: string;
  rows: ({ times: Float64Array; values: Float64Array } | null)[];
}
export interface Events {
  rows: EventRow[];
  messages: Messages;
  collectives: Collectives;
  /** No row has pixels instead of calls. */
  areWhole: boolean;
  tasks: Tasks;
  counters?: Counter[];
}

/** ns: a time without events that is no longer makes no part (libprofile/trace/event_trace.cpp). */
const shortest = 10000;

const summed = (differences: Float64Array, from: number, to: number): Float64Array => {
  const out = differences.slice(from, to);
  for (let i = 1; i < out.length; ++i) out[i]! += out[i - 1]!;
  return out;
};

function spans(gaps: Float64Array, lengths: Float64Array): { begin: Float64Array; end: Float64Array } {
  const begin = new Float64Array(gaps.length),
    end = new Float64Array(gaps.length);
  for (let i = 0, at = 0; i < gaps.length; ++i) {
    begin[i] = at + gaps[i]!;
    at = end[i] = begin[i]! + lengths[i]!;
  }
  return { begin, end };
}
const ends = (begin: Float64Array, lengths: Float64Array): Float64Array => begin.map((ns, i) => ns + lengths[i]!);

/** @param first of a picture that was asked for: the rows of the page, which have the iterations without events */
export async function readEvents(header: Header, events: EventsHeader, first: EventRow[] | null = null): Promise<Events> {
  const { rows: counts, states } = events,
    n = states.length,
    parts = await numbersByName(events.parts, ["gaps", "lengths", "phases", "numbers", "reasons"]),
    intervals = await numbersByName(events.intervals, ["begins", "lengths", "nodes", "states"]),
    inners = await numbersByName(events.inners, ["begins", "lengths", "phases", "numbers"]),
    stretches = await numbersByName(events.stretches, ["gaps", "lengths", "phases", "firsts", "counts", "exact", "sums"]),
    runs = await RunColumns.read(events),
    ranOn = events.ran_on && (await numbersOf(events.ran_on.intervals));
  for (const [columns, signed] of [
    [parts, ["numbers"]],
    [intervals, ["nodes"]],
    [inners, ["begins", "numbers"]],
    [stretches, ["gaps", "firsts"]],
  ] as [Record<string, Float64Array>, string[]][])
    for (const name of signed) unzigzag(columns[name]!);
  const rows: EventRow[] = [],
    rowOf = new Int32Array(header.locations.rank.length).fill(-1),
    severalThreads = new Set(
      header.locations.rank.filter((_, l) => header.locations.thread[l] !== 0 && (counts.parts[l]! + counts.stretches[l]! > 0 || events.indexed?.[l] === true)),
    );
  const pixels = events.pixels ? await readRuns(events.pixels) : [],
    ofPage = first && new Map(first.map((row) => [row.location, row]));
  const at = { parts: 0, intervals: 0, inners: 0, stretches: 0 };
  for (let l = 0; l < counts.parts.length; ++l) {
    const from = { ...at };
    for (const name of ["parts", "intervals", "inners", "stretches"] as const) at[name] += counts[name][l]!;
    if (ofPage ? !ofPage.has(l) : counts.parts[l] === 0 && counts.stretches[l] === 0 && !events.indexed?.[l]) continue;
    const rank = header.locations.rank[l]!,
      thread = header.locations.thread[l]!,
      cut = (column: Float64Array, list: keyof typeof at): Float64Array => column.slice(from[list], at[list]);
    const ownParts: Parts = {
      ...spans(cut(parts.gaps, "parts"), cut(parts.lengths, "parts")),
      phase: Int32Array.from(cut(parts.phases, "parts"), (p) => p - 2),
      number: summed(parts.numbers, from.parts, at.parts),
      reasons: cut(parts.reasons, "parts"),
    };
    const begin = summed(intervals.begins, from.intervals, at.intervals);
    const calls = runs.joined(l, {
      begin,
      end: ends(begin, cut(intervals.lengths, "intervals")),
      node: Uint32Array.from(summed(intervals.nodes, from.intervals, at.intervals)),
      state: Uint8Array.from(cut(intervals.states, "intervals")),
      ranOn: ranOn ? Int32Array.from(cut(ranOn, "intervals"), (node) => node - 1) : null,
    });
    const innerBegin = summed(inners.begins, from.inners, at.inners),
      ownInners: Inners = {
        begin: innerBegin,
        end: ends(innerBegin, cut(inners.lengths, "inners")),
        phase: cut(inners.phases, "inners").map((p) => p - 1),
        number: summed(inners.numbers, from.inners, at.inners),
      };
    const ownStretches: Stretches = ofPage?.get(l)!.stretches ?? {
      ...spans(cut(stretches.gaps, "stretches"), cut(stretches.lengths, "stretches")),
      phase: cut(stretches.phases, "stretches"),
      first: summed(stretches.firsts, from.stretches, at.stretches),
      count: cut(stretches.counts, "stretches"),
      isExact: cut(stretches.exact, "stretches"),
      sums: stretches.sums.slice(from.stretches * n, at.stretches * n),
    };
    const clock = { begin: counts.begin[l]!, scale: counts.axis[l]! / counts.own[l]! },
      own = (place: number): number => (place - clock.begin) / clock.scale,
      window = (events.window ?? [-Infinity, Infinity]).map(own) as [number, number];
    let bases: Base[] = [];
    ownParts.begin.forEach((ns, i) => bases.push({ begin: ns, end: ownParts.end[i]!, stretch: -1 }));
    ownStretches.begin.forEach((ns, i) => bases.push({ begin: ns, end: ownStretches.end[i]!, stretch: i }));
    bases.sort((a, b) => a.begin - b.begin);
    // Between parts that are all there nothing happened.
    const known = bases.length;
    for (let i = 1; i < known && counts.complete[l]; ++i) {
      const [begin, end] = [bases[i - 1]!.end, bases[i]!.begin];
      if (end > begin && end - begin <= shortest) bases.push({ begin, end, stretch: -1 });
    }
    if (events.window)
      bases = bases.flatMap((base) => {
        const [begin, end] = [Math.max(base.begin, window[0]), Math.min(base.end, window[1])]; // parts at the ends are not whole
        return base.stretch >= 0 ? [base] : begin < end ? [{ ...base, begin, end }] : [];
      });
    if (bases.length > known) bases.sort((a, b) => a.begin - b.begin);
    const duration = (call: number): number => (call < calls.runs ? calls.end[call]! - calls.begin[call]! : 0), // tasks are not calls
      flat = flattened(
        bases,
        calls,
        laidOver(calls, (state) => state < n),
        n,
      ),
      inRegions = laidOver(calls, (state) => state >= n),
      regions = inRegions.length > 0 ? flattened(bases, { ...calls, state: new Uint8Array(calls.state.length) }, inRegions, n) : null,
      runsHere = pixels[l],
      ownPixels: PixelRow | null = runsHere ? { runs: runsHere, window, count: events.count!, stretches: bases.filter(({ stretch }) => stretch >= 0) } : null;
    rowOf[l] = rows.length;
    rows.push({
      location: l,
      rank,
      thread,
      name: ofPage?.get(l)!.name ?? (severalThreads.has(rank) ? `${rank}.${thread}` : String(rank)),
      parts: ownParts,
      calls,
      bases,
      inners: ownInners,
      stretches: ownStretches,
      states: ownPixels
        ? mixedSegments(
            ownPixels,
            n,
            ownStretches.sums,
            (i) => ownPixels.runs.state[i]!,
            (i) => ownPixels.runs.longest[i]!,
          )
        : new Segments(flat.begins, flat.what, flat.owner, n, ownStretches.sums, duration),
      regions: regions && new Segments(regions.begins, regions.what, regions.owner, n, ownStretches.sums, duration),
      isMixed: !!ownPixels,
      pixels: ownPixels,
      place: (ns) => clock.begin + ns * clock.scale,
      own,
    });
  }
  return {
    rows,
    messages: await readMessages(events, rows, rowOf),
    collectives: await readCollectives(events, rowOf),
    tasks: await readTasks(events, rows, rowOf),
    counters: await readCounters(events, rowOf, rows.length),
    areWhole: rows.every((row) => !row.isMixed),
  };
}

/** The last one that begins before or at a time; -1: none. */
export function lastBefore(begins: Float64Array, ns: number): number {
  let low = -1,
    high = begins.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (begins[middle]! <= ns) low = middle;
    else high = middle;
  }
  return low;
}

/** The one of these that a time lies in; -1: none. */
export function within(list: { begin: Float64Array; end: Float64Array }, ns: number): number {
  const at = lastBefore(list.begin, ns);
  return at >= 0 && ns < list.end[at]! ? at : -1;
}
