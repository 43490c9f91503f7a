// NUMA nodes of tasks: where they ran, and where the pages of what they depend on lie. An access is one depend clause (tools/timeline/task_places.hpp).
import { numbersByName } from "../columns";
import type { EventsHeader } from "../header";
import type { Span } from "../selection";
import type { Passing } from "./filter";
import type { Events } from "./rows";
import { isTaskInside } from "./statistics";
import type { Tasks } from "./tasks";

export type Access = "" | "read" | "written"; // "": any
const [onlyIn, onlyOut] = [1, 2]; // of Tasks.kinds
export const isAccess = (kind: number, access: Access): boolean => (access === "read" ? kind !== onlyOut : access === "written" ? kind !== onlyIn : true);

export interface Accesses {
  local: number;
  remote: number;
  unknown: number; // one of the two nodes is not known
}

export class Places {
  readonly nodes: number; // the highest number and 1

  /** @param ofTask by number in Tasks; @param ofData by dependence; -1: not known */
  constructor(
    readonly ofTask: Int32Array,
    readonly ofData: Int32Array,
  ) {
    let highest = 0;
    for (const list of [ofTask, ofData]) for (const node of list) highest = Math.max(highest, node);
    this.nodes = highest + 1;
  }

  /** The node that most accesses of a task go to, the lowest one of several; -1: none is known. */
  mainNode({ kinds, firstDependence }: Tasks, task: number, access: Access): number {
    const counts = new Map<number, number>();
    let main = -1;
    for (let d = firstDependence[task]!; d < firstDependence[task + 1]!; ++d) {
      const node = this.ofData[d]!;
      if (node >= 0 && isAccess(kinds[d]!, access)) counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    for (const [node, count] of counts) if (main < 0 || count > counts.get(main)! || (count === counts.get(main) && node < main)) main = node;
    return main;
  }

  accesses({ firstDependence }: Tasks, task: number): Accesses {
    const out: Accesses = { local: 0, remote: 0, unknown: 0 },
      worker = this.ofTask[task]!;
    for (let d = firstDependence[task]!; d < firstDependence[task + 1]!; ++d) {
      const data = this.ofData[d]!;
      ++out[worker < 0 || data < 0 ? "unknown" : worker === data ? "local" : "remote"];
    }
    return out;
  }

  /** NaN: nothing is known. */
  remoteShare(tasks: Tasks, task: number): number {
    const { local, remote } = this.accesses(tasks, task);
    return remote / (local + remote);
  }

  /** Whether it depends on memory of such nodes. */
  touches({ kinds, firstDependence }: Tasks, task: number, nodes: [number, number][], access: Access): boolean {
    for (let d = firstDependence[task]!; d < firstDependence[task + 1]!; ++d) {
      const node = this.ofData[d]!;
      if (node >= 0 && isAccess(kinds[d]!, access) && nodes.some(([from, to]) => node >= from && node <= to)) return true;
    }
    return false;
  }
}

/** null: the profile knows no nodes of pages. */
export async function readPlaces(events: EventsHeader): Promise<Places | null> {
  if (!events.task_nodes) return null;
  const less = ({ nodes }: { nodes: Float64Array }): Int32Array => Int32Array.from(nodes, (node) => node - 1);
  return new Places(
    less(await numbersByName(events.task_nodes, ["nodes"])),
    events.data_nodes ? less(await numbersByName(events.data_nodes, ["nodes"])) : new Int32Array(0),
  );
}

/** By node of the task, then of its data. */
export interface NodeMatrix extends Accesses {
  nodes: number;
  reads: Float64Array;
  writes: Float64Array;
}

/** Of the tasks that statistics count, and that pass. null: none of them has an access. */
export function nodeMatrix(events: Events, spans: (Span | null)[], isIteration: boolean, passing: Passing): NodeMatrix | null {
  const { tasks } = events,
    { places } = tasks;
  if (!places) return null;
  const n = places.nodes,
    out: NodeMatrix = { nodes: n, reads: new Float64Array(n * n), writes: new Float64Array(n * n), local: 0, remote: 0, unknown: 0 };
  for (let t = 0; t < tasks.count; ++t) {
    if (isNaN(tasks.own[t]!) || !isTaskInside(events, t, spans, isIteration, passing)) continue;
    const { local, remote, unknown } = places.accesses(tasks, t),
      worker = places.ofTask[t]!;
    out.local += local;
    out.remote += remote;
    out.unknown += unknown;
    for (let d = tasks.firstDependence[t]!; d < tasks.firstDependence[t + 1]! && worker >= 0; ++d) {
      const data = places.ofData[d]!;
      if (data < 0) continue;
      if (isAccess(tasks.kinds[d]!, "read")) ++out.reads[worker * n + data]!;
      if (isAccess(tasks.kinds[d]!, "written")) ++out.writes[worker * n + data]!;
    }
  }
  return out.local + out.remote + out.unknown > 0 ? out : null;
}
