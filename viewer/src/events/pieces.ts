// The pieces of each row that a picture is made of: states, or classes of tasks. With a filter, what does not pass has states of its own, behind the others.
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { mixedSegments, type PixelRow } from "./mixed";
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
    const { states, stretches, pixels } = this.events.rows[row]!;
    if (pixels) return classes || this.passing.isActive ? this.ofPixels(row, pixels, classes) : states;
    if (classes) return this.ofClasses(row, classes);
    return this.passing.isActive ? kept(this.filtered, row, () => this.divided(row, states, stretches.sums)) : states;
  }

  /** Of what a server says of each pixel: what most of it is, or most of what passes. */
  private ofPixels(row: number, pixels: PixelRow, classes: TaskColors | null): Segments {
    const { runs } = pixels,
      { stretches } = this.events.rows[row]!,
      { isActive } = this.passing,
      n = classes ? classes.colors.length : this.states.length,
      sums = classes ? noTasks(stretches, n) : stretches.sums,
      all = (i: number): number => (classes ? (runs.taskClass?.[i] ?? 0) : runs.state[i]!),
      passing = (i: number): number => runs.passing?.[i] ?? 0,
      longest = (isActive ? runs.passingLongest : runs.longest) ?? runs.longest;
    return kept(classes ? this.classed : this.filtered, row, () =>
      mixedSegments(
        pixels,
        isActive ? 2 * n : n,
        isActive ? dividedSums(sums, n, this.passing.outside(row)) : sums,
        (i) => (!isActive ? all(i) : passing(i) > 0 ? passing(i) - 1 : n + all(i)),
        (i) => (classes ? 0 : longest[i]!),
      ),
    );
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
        sums = noTasks(stretches, n);
      for (let c = calls.runs; c < state.length; ++c) state[c] = taskOf(c) < 0 ? n - 1 : of(taskOf(c));
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
      length = duration ?? ((call: number): number => (call < calls.runs ? calls.end[call]! - calls.begin[call]! : 0));
    for (let i = 0; i < what.length; ++i) {
      const call = all.owner[i]!,
        passes = all.what[i]! < n && (call < 0 ? outside : passing.of(row, call));
      what[i] = all.what[i]! + (passes ? 0 : n);
    }
    return new Segments(all.begins, what, all.owner, 2 * n, dividedSums(stretchSums, n, outside), (call) => (passing.of(row, call) ? length(call) : 0));
  }
}

/** Sums of stretches by states that pass, then by those that do not: all or nothing of them. */
function dividedSums(sums: Float64Array, n: number, passes: boolean): Float64Array {
  const out = new Float64Array(2 * sums.length);
  for (let i = 0; i < sums.length; ++i) out[(Math.floor(i / n) * 2 + (passes ? 0 : 1)) * n + (i % n)] = sums[i]!;
  return out;
}
/** Of stretches, all of whose time counts as being in no task. */
function noTasks({ begin, end }: { begin: Float64Array; end: Float64Array }, n: number): Float64Array {
  const sums = new Float64Array(begin.length * n);
  begin.forEach((ns, i) => (sums[i * n] = end[i]! - ns));
  return sums;
}

function kept(known: Map<number, Segments>, row: number, make: () => Segments): Segments {
  let one = known.get(row);
  if (!one) known.set(row, (one = make()));
  return one;
}
