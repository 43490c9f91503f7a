// The pieces of each row that a picture is made of: states, or classes of tasks. With a filter, what does not pass has states of its own, behind the others.
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { flattened, Segments } from "./segments";
import type { TaskColors } from "./task_colors";
import { laidOver } from "./tasks";

/** Waits that are no part of a task's own time (tools/timeline/task_pieces.hpp). */
const waits = ["omp_barrier", "omp_idle", "omp_task_wait"];

export class Pieces {
  private readonly filtered = new Map<number, Segments>();
  private readonly classed = new Map<number, Segments>();
  private classes = ""; // that those are of

  constructor(
    private readonly events: Events,
    private readonly states: { key: string }[],
    readonly passing: Passing,
  ) {}

  /** @param classes of tasks; null: states */
  of(row: number, classes: TaskColors | null): Segments {
    const { states, stretches, isMixed } = this.events.rows[row]!;
    if (isMixed) return states; // of pixels there is no more to know
    if (classes) return this.ofClasses(row, classes);
    return this.passing.isActive ? kept(this.filtered, row, () => this.divided(row, states, stretches.sums)) : states;
  }

  /** State 0: in no task; then classes; the last one: other tasks. Other tasks inside, and waits for tasks, are no part of a task. */
  private ofClasses(row: number, { name, colors, of }: TaskColors): Segments {
    if (this.classes !== name) this.classed.clear();
    this.classes = name;
    return kept(this.classed, row, () => {
      const { calls, bases, stretches } = this.events.rows[row]!,
        { tasks, rows } = this.events,
        n = colors.length,
        isWait = this.states.map(({ key }) => waits.includes(key)),
        state = new Uint8Array(calls.begin.length),
        taskOf = (call: number): number => (call < calls.runs ? -1 : calls.task[call - calls.runs]!),
        sums = new Float64Array(stretches.begin.length * n);
      for (let c = calls.runs; c < state.length; ++c) state[c] = taskOf(c) < 0 ? n - 1 : of(taskOf(c));
      stretches.begin.forEach((begin, i) => (sums[i * n] = stretches.end[i]! - begin));
      const order = laidOver(calls, (of, call) => call >= calls.runs || isWait[of] === true),
        flat = flattened(bases, { ...calls, state }, order, n),
        duration = (call: number): number => (taskOf(call) < 0 ? 0 : tasks.duration(taskOf(call), rows)),
        all = new Segments(flat.begins, flat.what, flat.owner, n, sums, duration);
      return this.passing.isActive ? this.divided(row, all, sums, duration) : all;
    });
  }

  private divided(row: number, all: Segments, stretchSums: Float64Array, duration?: (call: number) => number): Segments {
    const { passing } = this,
      { calls } = this.events.rows[row]!,
      n = all.states,
      outside = passing.outside(row),
      what = new Uint8Array(all.count),
      sums = new Float64Array(2 * stretchSums.length),
      length = duration ?? ((call: number): number => (call < calls.runs ? calls.end[call]! - calls.begin[call]! : 0));
    for (let i = 0; i < what.length; ++i) {
      const call = all.owner[i]!,
        passes = all.what[i]! < n && (call < 0 ? outside : passing.of(row, call));
      what[i] = all.what[i]! + (passes ? 0 : n);
    }
    for (let i = 0; i < stretchSums.length; ++i) sums[(Math.floor(i / n) * 2 + (outside ? 0 : 1)) * n + (i % n)] = stretchSums[i]!;
    return new Segments(all.begins, what, all.owner, 2 * n, sums, (call) => (passing.of(row, call) ? length(call) : 0));
  }
}

function kept(known: Map<number, Segments>, row: number, make: () => Segments): Segments {
  let one = known.get(row);
  if (!one) known.set(row, (one = make()));
  return one;
}
