// The tasks of OpenMP in the timeline, decoded from the columns of the page, and their stretches as pieces of their threads.
import { numbersByName, numbersOf, unzigzag } from "../columns";
import type { EventsHeader } from "../header";
import { readPlaces, type Places } from "./places";
import type { Calls, EventRow } from "./rows";

/** Empty columns if the page has no tasks. */
const listed = async <Name extends string>(header: Record<Name, number> | undefined, names: Name[]): Promise<Record<Name, Float64Array>> =>
  header ? numbersByName(header, names) : (Object.fromEntries(names.map((name) => [name, new Float64Array(0)])) as Record<Name, Float64Array>);

/** Stretches of all threads. */
export class RunColumns {
  private at = 0; // of the next location
  private constructor(
    private readonly counts: number[],
    private readonly state: number,
    private readonly columns: Record<"begins" | "lengths" | "tasks" | "nodes" | "flags", Float64Array>,
    private readonly ranOn: Float64Array | null, // node + 1
  ) {}

  static async read(events: EventsHeader): Promise<RunColumns> {
    const columns = await listed(events.runs, ["begins", "lengths", "tasks", "nodes", "flags"]);
    unzigzag(columns.tasks);
    unzigzag(columns.nodes);
    const task = events.states.findIndex(({ key }) => key === "task");
    const ranOn = events.ran_on?.runs === undefined ? null : await numbersOf(events.ran_on.runs);
    return new RunColumns(events.rows.runs, task, columns, ranOn);
  }

  /** The calls of a location with its stretches behind them. Locations come one after the other; those without a row have no stretches. */
  joined(location: number, calls: Omit<Calls, "runs" | "task">): Calls {
    const runs = calls.begin.length,
      count = this.counts[location]!,
      { begins, lengths, tasks, nodes } = this.columns,
      longer = <T extends Float64Array | Uint32Array | Uint8Array | Int32Array>(list: T, empty: T): T => (empty.set(list), empty);
    const out: Calls = {
      begin: longer(calls.begin, new Float64Array(runs + count)),
      end: longer(calls.end, new Float64Array(runs + count)),
      node: longer(calls.node, new Uint32Array(runs + count)),
      state: longer(calls.state, new Uint8Array(runs + count)),
      runs,
      task: new Int32Array(count),
      ranOn: calls.ranOn && longer(calls.ranOn, new Int32Array(runs + count).fill(-1)),
    };
    for (let i = 0, begin = 0, task = 0, node = 0; i < count; ++i, ++this.at) {
      out.begin[runs + i] = begin += begins[this.at]!;
      out.end[runs + i] = begin + lengths[this.at]!;
      out.node[runs + i] = node += nodes[this.at]!;
      out.state[runs + i] = this.state;
      out.task[i] = (task += tasks[this.at]!) - 1;
      if (out.ranOn && this.ranOn) out.ranOn[runs + i] = this.ranOn[this.at]! - 1;
    }
    return out;
  }
}

/** Those of the wanted states in the order in which they lie over each other: by begin, outer ones first; calls lie in tasks. */
export function laidOver(calls: Calls, wanted: (state: number, call: number) => boolean): Uint32Array {
  const { begin, end, state, runs } = calls,
    out = new Uint32Array(begin.length);
  let n = 0,
    call = 0,
    run = runs;
  while (call < runs || run < begin.length) {
    const isRun = run < begin.length && (call >= runs || begin[run]! < begin[call]! || (begin[run] === begin[call] && end[run]! >= end[call]!)),
      next = isRun ? run++ : call++;
    if (wanted(state[next]!, next)) out[n++] = next;
  }
  return out.subarray(0, n);
}

/** In the order of threads, then of creation. */
export class Tasks {
  static readonly implicit = -1;
  static readonly unknown = -2;
  readonly row: Int32Array; // that created it
  readonly number: Float64Array; // unique in its process
  readonly creator: Int32Array; // implicit or unknown if below 0
  readonly created: Float64Array; // ns, on the clock of its rank
  readonly node: Uint32Array; // of its creation
  readonly flags: Uint8Array; // 1: undeferred, 2: final, 4: untied, 8: of a taskloop
  readonly type: Uint32Array;
  readonly own: Float64Array; // ns; NaN: not all of it is there
  readonly firstDependence: Uint32Array; // and the number of all
  kinds: Uint8Array = new Uint8Array(0); // of dependences
  addresses: Float64Array = new Float64Array(0);
  places: Places | null = null; // null: the profile knows no NUMA nodes of pages
  readonly firstRun: Uint32Array; // and the number of all: positions in the next two, in the order of begins
  runRow = new Int32Array(0);
  runCall = new Int32Array(0);

  constructor(readonly count: number) {
    this.row = new Int32Array(count);
    this.number = new Float64Array(count);
    this.creator = new Int32Array(count);
    this.created = new Float64Array(count);
    this.node = new Uint32Array(count);
    this.flags = new Uint8Array(count);
    this.type = new Uint32Array(count);
    this.own = new Float64Array(count);
    this.firstDependence = new Uint32Array(count + 1);
    this.firstRun = new Uint32Array(count + 1);
  }

  /** Those that a row created: first, end. */
  ofRow(row: number): [number, number] {
    return this.byRow[row] ?? [0, 0];
  }
  readonly byRow: Record<number, [number, number]> = {};

  runs(task: number): [number, number] {
    return [this.firstRun[task]!, this.firstRun[task + 1]!];
  }
  /** Begun by another thread than the one that created it. */
  isStolen(task: number): boolean {
    const [first, end] = this.runs(task);
    return end > first && this.runRow[first] !== this.row[task];
  }
  /** Its own time; if not all of it is there: that of the stretches that are. */
  duration(task: number, rows: EventRow[]): number {
    const own = this.own[task]!;
    if (!isNaN(own)) return own;
    let sum = 0;
    for (let [i, end] = this.runs(task); i < end; ++i) {
      const { calls } = rows[this.runRow[i]!]!;
      sum += calls.end[this.runCall[i]!]! - calls.begin[this.runCall[i]!]!;
    }
    return sum;
  }
  /** The first one of the longest; -1: none. */
  longestRun(task: number, rows: EventRow[]): number {
    let longest = -1,
      most = -1;
    for (let [i, end] = this.runs(task); i < end; ++i) {
      const { calls } = rows[this.runRow[i]!]!,
        ns = calls.end[this.runCall[i]!]! - calls.begin[this.runCall[i]!]!;
      if (ns > most) [longest, most] = [i, ns];
    }
    return longest;
  }
  find(rank: number, number: number, rows: EventRow[]): number {
    return this.number.findIndex((one, t) => one === number && rows[this.row[t]!]!.rank === rank);
  }
}

/** @param rowOf rows by location */
export async function readTasks(events: EventsHeader, rows: EventRow[], rowOf: Int32Array): Promise<Tasks> {
  const columns = await listed(events.tasks, ["numbers", "creators", "created", "nodes", "flags", "types", "own", "dependences"]),
    dependences = await listed(events.dependences, ["kinds", "addresses"]),
    tasks = new Tasks(columns.numbers.length);
  unzigzag(columns.numbers);
  unzigzag(columns.nodes);
  unzigzag(dependences.addresses);
  tasks.kinds = Uint8Array.from(dependences.kinds);
  tasks.addresses = dependences.addresses;
  let t = 0,
    d = 0;
  events.rows.tasks.forEach((n, l) => {
    if (n > 0) tasks.byRow[rowOf[l]!] = [t, t + n];
    for (let i = 0, number = 0, created = 0, node = 0, address = 0; i < n; ++i, ++t) {
      tasks.row[t] = rowOf[l]!;
      tasks.number[t] = number += columns.numbers[t]!;
      tasks.creator[t] = columns.creators[t]! >= 2 ? columns.creators[t]! - 2 : columns.creators[t] === 0 ? Tasks.implicit : Tasks.unknown;
      tasks.created[t] = created += columns.created[t]!;
      tasks.node[t] = node += columns.nodes[t]!;
      tasks.flags[t] = columns.flags[t]!;
      tasks.type[t] = columns.types[t]!;
      tasks.own[t] = columns.own[t]! > 0 ? columns.own[t]! - 1 : NaN;
      tasks.firstDependence[t] = d;
      for (const end = d + columns.dependences[t]!; d < end; ++d) tasks.addresses[d] = address += tasks.addresses[d]!;
    }
  });
  tasks.firstDependence[t] = d;
  orderRuns(tasks, rows);
  tasks.places = await readPlaces(events);
  return tasks;
}

function orderRuns(tasks: Tasks, rows: EventRow[]): void {
  const { firstRun } = tasks;
  for (const { calls } of rows) for (const task of calls.task) if (task >= 0) ++firstRun[task + 1]!;
  for (let t = 1; t <= tasks.count; ++t) firstRun[t]! += firstRun[t - 1]!;
  const next = firstRun.slice(),
    begin = new Float64Array(firstRun[tasks.count]!);
  tasks.runRow = new Int32Array(begin.length);
  tasks.runCall = new Int32Array(begin.length);
  rows.forEach(({ calls }, r) =>
    calls.task.forEach((task, i) => {
      if (task < 0) return;
      // Few of a task: each one goes to its place among those that are there.
      let at = next[task]!++;
      const ns = calls.begin[calls.runs + i]!;
      for (; at > firstRun[task]! && begin[at - 1]! > ns; --at) {
        begin[at] = begin[at - 1]!;
        tasks.runRow[at] = tasks.runRow[at - 1]!;
        tasks.runCall[at] = tasks.runCall[at - 1]!;
      }
      begin[at] = ns;
      tasks.runRow[at] = r;
      tasks.runCall[at] = calls.runs + i;
    }),
  );
}
