// Counters that were read at the borders of tasks, calls and regions.
import { numbersByName } from "../columns";
import { grouped, quantity } from "../format";
import type { EventsHeader } from "../header";
import { lastBefore, type Counter, type Events } from "./rows";

/** @param rowOf rows by location; values count from a row's first reading on */
export async function readCounters(events: EventsHeader, rowOf: Int32Array, rows: number): Promise<Counter[]> {
  const counters: Counter[] = (events.counters ?? []).map(({ name, unit }) => ({ name, unit, rows: Array.from({ length: rows }, () => null) }));
  if (!events.counts) return counters;
  const columns = await numbersByName(events.counts, ["counters", "gaps", "increases"]);
  let at = 0;
  (events.rows.counts ?? []).forEach((n, l) => {
    for (const end = at + n; at < end;) {
      const first = at,
        counter = columns.counters[at]!;
      while (at < end && columns.counters[at] === counter) ++at;
      const times = columns.gaps.slice(first, at),
        values = columns.increases.slice(first, at);
      for (const list of [times, values]) for (let i = 1; i < list.length; ++i) list[i]! += list[i - 1]!;
      if (rowOf[l]! >= 0) counters[counter]!.rows[rowOf[l]!] = { times, values };
    }
  });
  return counters;
}

/** Of a row, from one time to another. */
export interface Stretch {
  row: number;
  begin: number;
  end: number;
}

/** Of a task, in the order of begins. */
export const stretchesOf = ({ tasks, rows }: Events, task: number): Stretch[] => {
  const [first, end] = tasks.runs(task);
  return Array.from({ length: end - first }, (_, i) => {
    const [row, call] = [tasks.runRow[first + i]!, tasks.runCall[first + i]!];
    return { row, begin: rows[row]!.calls.begin[call]!, end: rows[row]!.calls.end[call]! };
  });
};

/** By how much it grew in these stretches; null: it was not read at all borders. */
export function increaseIn(counter: Counter, stretches: Stretch[]): number | null {
  let sum = 0;
  for (const { row, begin, end } of stretches) {
    const readings = counter.rows[row];
    if (!readings) return null;
    const [a, b] = [lastBefore(readings.times, begin), lastBefore(readings.times, end)];
    if (a < 0 || readings.times[a] !== begin || readings.times[b] !== end) return null;
    sum += readings.values[b]! - readings.values[a]!;
  }
  return stretches.length > 0 ? sum : null;
}

/** "page_faults +7, ...": of those that were read. */
export function increaseWords({ counters }: Events, stretches: Stretch[]): string {
  return (counters ?? [])
    .flatMap((counter) => {
      const increase = increaseIn(counter, stretches);
      return increase === null ? [] : [`${counter.name} +${counter.unit ? quantity(increase, counter.unit) : grouped(increase)}`];
    })
    .join(", ");
}
