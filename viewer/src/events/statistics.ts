// How long the tasks and calls of a selected part of the timeline take: by type, and by length.
import type { Data } from "../data";
import type { Span } from "../selection";
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { typeName } from "./task_words";
import { functionName } from "./words";

export interface Statistics {
  name: string;
  durations: Float64Array; // ns, ascending
  total: number;
  mean: number;
  median: number; // the upper one, as in the report
  least: number;
  most: number;
  stolen: number; // of tasks
}
export interface Kinds {
  list: Statistics[]; // that with most time first
  incomplete: number; // tasks of which not all was kept
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
export function taskStatistics(data: Data, events: Events, spans: (Span | null)[], isIteration: boolean, passing: Passing): Kinds {
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
    list: sorted(
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
      durations,
      total,
      mean: total / n,
      median: durations[Math.floor(n / 2)]!,
      least: durations[0]!,
      most: durations[n - 1]!,
      stolen: stolen(key),
    };
  }).sort((a, b) => b.total - a.total || b.durations.length - a.durations.length);

export interface Histogram {
  edges: number[]; // ns; one more than counts
  counts: number[];
}
/** Bins of equal ratios, five from 1 to 10; none with less than 1 ns but the first. */
export function histogramOf(lists: Float64Array[]): Histogram | null {
  const perDecade = 5,
    binOf = (ns: number): number => Math.floor(perDecade * Math.log10(Math.max(ns, 1)) + 1e-9);
  const from = Math.min(...lists.map((list) => binOf(list[0]!))),
    to = Math.max(...lists.map((list) => binOf(list.at(-1)!)));
  if (lists.length === 0) return null;
  const counts = new Array<number>(to - from + 1).fill(0);
  for (const list of lists) for (const ns of list) ++counts[binOf(ns) - from]!;
  return { edges: Array.from({ length: to - from + 2 }, (_, i) => 10 ** ((from + i) / perDecade)), counts };
}
