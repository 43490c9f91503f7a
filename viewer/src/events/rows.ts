// The rows of the timeline: what each thread did, decoded from the columns of the page. Times of a row are those of its rank's clock.
import { numbersByName, unzigzag } from "../columns";
import type { EventsHeader, Header } from "../header";
import { readMessages, type Messages } from "./messages";
import { flattened, Segments, type Base } from "./segments";

export interface Parts {
  begin: Float64Array;
  end: Float64Array;
  phase: Int32Array; // -2: a window of time, -1: an iteration of an unknown phase
  number: Float64Array;
  reasons: Float64Array; // 1: its turn, 2: slow, 4: first of its kind
}
export interface Calls {
  begin: Float64Array;
  end: Float64Array;
  node: Uint32Array;
  state: Uint8Array; // the number of states: a region
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
  inners: Inners;
  stretches: Stretches;
  states: Segments;
  regions: Segments | null;
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

export async function readEvents(header: Header, events: EventsHeader): Promise<Events> {
  const { rows: counts, states } = events,
    n = states.length,
    parts = await numbersByName(events.parts, ["gaps", "lengths", "phases", "numbers", "reasons"]),
    intervals = await numbersByName(events.intervals, ["begins", "lengths", "nodes", "states"]),
    inners = await numbersByName(events.inners, ["begins", "lengths", "phases", "numbers"]),
    stretches = await numbersByName(events.stretches, ["gaps", "lengths", "phases", "firsts", "counts", "exact", "sums"]);
  for (const [columns, signed] of [
    [parts, ["numbers"]],
    [intervals, ["nodes"]],
    [inners, ["begins", "numbers"]],
    [stretches, ["gaps", "firsts"]],
  ] as [Record<string, Float64Array>, string[]][])
    for (const name of signed) unzigzag(columns[name]!);
  const rows: EventRow[] = [],
    rowOf = new Int32Array(header.locations.rank.length).fill(-1),
    severalThreads = new Set(header.locations.rank.filter((_, l) => header.locations.thread[l] !== 0 && counts.parts[l]! + counts.stretches[l]! > 0));
  const at = { parts: 0, intervals: 0, inners: 0, stretches: 0 };
  for (let l = 0; l < counts.parts.length; ++l) {
    const from = { ...at };
    for (const name of ["parts", "intervals", "inners", "stretches"] as const) at[name] += counts[name][l]!;
    if (counts.parts[l] === 0 && counts.stretches[l] === 0) continue;
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
    const calls: Calls = {
      begin,
      end: ends(begin, cut(intervals.lengths, "intervals")),
      node: Uint32Array.from(summed(intervals.nodes, from.intervals, at.intervals)),
      state: Uint8Array.from(cut(intervals.states, "intervals")),
    };
    const innerBegin = summed(inners.begins, from.inners, at.inners),
      ownInners: Inners = {
        begin: innerBegin,
        end: ends(innerBegin, cut(inners.lengths, "inners")),
        phase: cut(inners.phases, "inners").map((p) => p - 1),
        number: summed(inners.numbers, from.inners, at.inners),
      };
    const ownStretches: Stretches = {
      ...spans(cut(stretches.gaps, "stretches"), cut(stretches.lengths, "stretches")),
      phase: cut(stretches.phases, "stretches"),
      first: summed(stretches.firsts, from.stretches, at.stretches),
      count: cut(stretches.counts, "stretches"),
      isExact: cut(stretches.exact, "stretches"),
      sums: stretches.sums.slice(from.stretches * n, at.stretches * n),
    };
    const bases: Base[] = [];
    ownParts.begin.forEach((ns, i) => bases.push({ begin: ns, end: ownParts.end[i]!, stretch: -1 }));
    ownStretches.begin.forEach((ns, i) => bases.push({ begin: ns, end: ownStretches.end[i]!, stretch: i }));
    bases.sort((a, b) => a.begin - b.begin);
    // Between parts that are all there nothing happened.
    const known = bases.length;
    for (let i = 1; i < known && counts.complete[l]; ++i) {
      const [begin, end] = [bases[i - 1]!.end, bases[i]!.begin];
      if (end > begin && end - begin <= shortest) bases.push({ begin, end, stretch: -1 });
    }
    if (bases.length > known) bases.sort((a, b) => a.begin - b.begin);
    const duration = (call: number): number => calls.end[call]! - calls.begin[call]!,
      of = (wanted: (state: number) => boolean): number[] => Array.from(calls.state.keys()).filter((i) => wanted(calls.state[i]!)),
      flat = flattened(
        bases,
        calls,
        of((state) => state < n),
        n,
      ),
      inRegions = of((state) => state >= n),
      regions = inRegions.length > 0 ? flattened(bases, { ...calls, state: new Uint8Array(calls.state.length) }, inRegions, n) : null,
      clock = { begin: counts.begin[l]!, scale: counts.axis[l]! / counts.own[l]! };
    rowOf[l] = rows.length;
    rows.push({
      location: l,
      rank,
      thread,
      name: severalThreads.has(rank) ? `${rank}.${thread}` : String(rank),
      parts: ownParts,
      calls,
      inners: ownInners,
      stretches: ownStretches,
      states: new Segments(flat.begins, flat.what, flat.owner, n, ownStretches.sums, duration),
      regions: regions && new Segments(regions.begins, regions.what, regions.owner, n, ownStretches.sums, duration),
      place: (own) => clock.begin + own * clock.scale,
      own: (place) => (place - clock.begin) / clock.scale,
    });
  }
  return { rows, messages: await readMessages(events, rows, rowOf) };
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
