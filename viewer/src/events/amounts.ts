// How the durations of tasks and calls go with an amount of theirs: their bytes, or a counter that was read at their borders. As
// `libprofile report --correlations` counts.
import type { Data } from "../data";
import type { Span } from "../selection";
import { increaseIn, stretchesOf } from "./counters";
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { isTaskInside } from "./statistics";
import { typeName } from "./task_words";
import { functionName } from "./words";

/** A point of a series: a call of a row, of a task its first stretch. */
export interface Place {
  row: number;
  call: number;
}
export interface Series {
  name: string; // of the type of task, or the function
  isOfTasks: boolean;
  amount: string; // "bytes", or a counter
  unit: string;
  amounts: number[];
  durations: number[]; // ns; of a task from begin to end of its stretches, as counters contain what ran inside
  places: Place[];
  total: number; // ns
}

class Found {
  private readonly known = new Map<string, Series>();

  add(isOfTasks: boolean, name: string, amount: string, unit: string, value: number, duration: number, place: Place): void {
    const key = `${isOfTasks}\0${name}\0${amount}`;
    let series = this.known.get(key);
    if (!series) this.known.set(key, (series = { name, isOfTasks, amount, unit, amounts: [], durations: [], places: [], total: 0 }));
    series.amounts.push(value);
    series.durations.push(duration);
    series.places.push(place);
    series.total += duration;
  }
  /** Without those whose amounts are all 0, which tell nothing. */
  list(): Series[] {
    return [...this.known.values()].filter(({ amounts }) => amounts.some((value) => value > 0)).sort((a, b) => b.total - a.total);
  }
}

/** Those that lie in the spans of their rows and pass; that with most time first. */
export function seriesOf(data: Data, events: Events, spans: (Span | null)[], isIteration: boolean, passing: Passing): Series[] {
  const { tasks, rows, messages } = events,
    counters = events.counters ?? [],
    found = new Found();
  if (counters.length > 0)
    for (let t = 0; t < tasks.count; ++t) {
      if (isNaN(tasks.own[t]!) || !isTaskInside(events, t, spans, isIteration, passing)) continue;
      const stretches = stretchesOf(events, t),
        duration = stretches.reduce((sum, { begin, end }) => sum + end - begin, 0),
        place = { row: tasks.runRow[tasks.firstRun[t]!]!, call: tasks.runCall[tasks.firstRun[t]!]! };
      for (const counter of counters) {
        const increase = increaseIn(counter, stretches);
        if (increase !== null) found.add(true, typeName(data, tasks.type[t]!), counter.name, counter.unit, increase, duration, place);
      }
    }
  if (counters.length > 0 || messages.count > 0)
    rows.forEach(({ calls }, row) => {
      const span = spans[row];
      if (!span) return;
      for (let call = 0; call < calls.runs && calls.begin[call]! < span[1]; ++call) {
        const [begin, end] = [calls.begin[call]!, calls.end[call]!];
        if (begin < span[0] || end > span[1] || !passing.of(row, call)) continue;
        const name = functionName(data, calls.node[call]!),
          add = (amount: string, unit: string, value: number): void => found.add(false, name, amount, unit, value, end - begin, { row, call });
        for (const counter of counters) {
          const increase = increaseIn(counter, [{ row, begin, end }]);
          if (increase !== null) add(counter.name, counter.unit, increase);
        }
        if (messages.count === 0) continue;
        const own = messages.of(row, call);
        if (own.length > 0)
          add(
            "bytes",
            "bytes",
            own.reduce((sum, m) => sum + messages.bytes[m]!, 0),
          );
      }
    });
  return found.list();
}

/** The line of least squares, duration = intercept + slope x amount. */
export interface Fit {
  slope: number; // NaN: all amounts are the same
  intercept: number;
  slopeError: number; // 1.96 standard errors: with many points half of the 95 % interval
  rSquared: number; // NaN: all amounts or all durations are the same
}
export function fitOf({ amounts, durations }: Pick<Series, "amounts" | "durations">): Fit {
  const n = amounts.length,
    mean = (list: number[]): number => list.reduce((a, b) => a + b, 0) / n,
    [x, y] = [mean(amounts), mean(durations)];
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < n; ++i) {
    const [dx, dy] = [amounts[i]! - x, durations[i]! - y];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const slope = xx === 0 ? NaN : xy / xx,
    slopeError = n < 3 ? NaN : 1.96 * Math.sqrt(Math.max(0, yy - slope * xy) / (n - 2) / xx);
  return { slope, intercept: y - slope * x, slopeError, rSquared: xx === 0 || yy === 0 ? NaN : (xy * xy) / xx / yy };
}
