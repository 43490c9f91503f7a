// How long the tasks and calls of a selected part of the timeline take: by type, and by length.
import type { Data } from "../data";
import type { Span } from "../selection";
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { typeName } from "./task_words";
import { functionName } from "./words";

export interface Statistics {
  name: string;
  count: number;
  durations: Float64Array | null; // ns, ascending; null: the server counted them
  bins: Map<number, number>; // of the histogram: how many
  total: number; // ns, as what follows
  mean: number;
  median: number; // the upper one, as in the report
  error: number; // of the median, as a share of it; 0: it is exact
  least: number;
  most: number;
  stolen: number; // of tasks
}
/** Of the tasks and calls of a selection, those with most time first. */
export interface Durations {
  tasks: Statistics[];
  incomplete: number; // tasks of which not all was kept
  tooLong: number; // tasks that were created too long before their end to be followed
  unfinished: number; // tasks of which it is not known whether they go on after the selection
  calls: Statistics[];
}

/** Whether all stretches of a task lie in the spans of their rows and, if the spans are an iteration, its creation too, and it passes: as
 *  `libprofile report --tasks` counts. */
export function isTaskInside({ tasks, rows }: Events, t: number, spans: (Span | null)[], isIteration: boolean, passing: Passing): boolean {
  const [first, end] = tasks.runs(t),
    own = spans[tasks.row[t]!];
  let isInside = first < end && (!isIteration || (!!own && tasks.created[t]! >= own[0] && tasks.created[t]! <= own[1]));
  for (let i = first; i < end && isInside; ++i) {
    const span = spans[tasks.runRow[i]!],
      { calls } = rows[tasks.runRow[i]!]!;
    isInside = !!span && calls.begin[tasks.runCall[i]!]! >= span[0] && calls.end[tasks.runCall[i]!]! <= span[1];
  }
  // One of its stretches is enough, as in exports and reports.
  for (let i = first; i < end && isInside; ++i) if (passing.of(tasks.runRow[i]!, tasks.runCall[i]!)) return true;
  return false;
}

/** Of the tasks that lie there: their own times. */
export function taskStatistics(
  data: Data,
  events: Events,
  spans: (Span | null)[],
  isIteration: boolean,
  passing: Passing,
): Pick<Durations, "tasks" | "incomplete"> {
  const { tasks } = events,
    lists = new Map<number, number[]>(),
    stolen = new Map<number, number>();
  let incomplete = 0;
  for (let t = 0; t < tasks.count; ++t) {
    if (!isTaskInside(events, t, spans, isIteration, passing)) continue;
    if (isNaN(tasks.own[t]!)) {
      ++incomplete;
      continue;
    }
    const type = tasks.type[t]!;
    put(lists, type, tasks.own[t]!);
    if (tasks.isStolen(t)) stolen.set(type, (stolen.get(type) ?? 0) + 1);
  }
  return {
    tasks: sorted(
      lists,
      (type) => typeName(data, type),
      (type) => stolen.get(type) ?? 0,
    ),
    incomplete,
  };
}

/** Calls that begin and end in the spans, by function. */
export function callStatistics(data: Data, events: Events, spans: (Span | null)[], passing: Passing): Statistics[] {
  const states = data.header.events!.states.length,
    lists = new Map<string, number[]>();
  events.rows.forEach(({ calls }, r) => {
    const span = spans[r];
    if (!span) return;
    for (let c = 0; c < calls.runs && calls.begin[c]! < span[1]; ++c)
      if (calls.begin[c]! >= span[0] && calls.end[c]! <= span[1] && calls.state[c]! < states && passing.of(r, c))
        put(lists, functionName(data, calls.node[c]!), calls.end[c]! - calls.begin[c]!);
  });
  return sorted(
    lists,
    (name) => name,
    () => 0,
  );
}

function put<Key>(lists: Map<Key, number[]>, key: Key, ns: number): void {
  const list = lists.get(key);
  if (list) list.push(ns);
  else lists.set(key, [ns]);
}

const sorted = <Key>(lists: Map<Key, number[]>, name: (key: Key) => string, stolen: (key: Key) => number): Statistics[] =>
  Array.from(lists, ([key, list]) => {
    const durations = Float64Array.from(list).sort(),
      total = durations.reduce((a, b) => a + b, 0),
      n = durations.length;
    return {
      name: name(key),
      count: n,
      durations,
      bins: binsOf(durations),
      total,
      mean: total / n,
      median: durations[Math.floor(n / 2)]!,
      error: 0,
      least: durations[0]!,
      most: durations[n - 1]!,
      stolen: stolen(key),
    };
  }).sort(byTime);
/** That with most time first. */
export const byTime = (a: Statistics, b: Statistics): number => b.total - a.total || b.count - a.count;

/** Bins of equal ratios, five from 1 to 10; none with less than 1 ns but the first. tools/timeline/duration_counts.hpp has the same. */
const perDecade = 5;
function binsOf(durations: Float64Array): Map<number, number> {
  const bins = new Map<number, number>();
  for (const ns of durations) {
    const bin = Math.floor(perDecade * Math.log10(Math.max(ns, 1)) + 1e-9);
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  return bins;
}

export interface Histogram {
  edges: number[]; // ns; one more than counts
  counts: number[];
}
export function histogramOf(lists: Map<number, number>[]): Histogram | null {
  const known = lists.flatMap((bins) => [...bins.keys()]);
  if (known.length === 0) return null;
  const from = known.reduce((a, b) => Math.min(a, b)),
    to = known.reduce((a, b) => Math.max(a, b)),
    counts = new Array<number>(to - from + 1).fill(0);
  for (const bins of lists) for (const [bin, n] of bins) counts[bin - from]! += n;
  return { edges: Array.from({ length: to - from + 2 }, (_, i) => 10 ** ((from + i) / perDecade)), counts };
}
