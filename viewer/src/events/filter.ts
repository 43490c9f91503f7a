// Which calls, tasks and regions of the timeline count: for the picture, for statistics and for what is saved.
import type { Data } from "../data";
import type { Access } from "./places";
import type { Events } from "./rows";
import { functionName } from "./words";

export interface EventFilter {
  kind: "" | "calls" | "tasks" | "regions";
  text: string; // in the name of the function, or of the type of task and where it is created
  inside: string; // in the name of a function of the call path
  from: number; // ns; what a call, a region or a stretch takes, of a task its own time
  to: number;
  ranks: string; // "0,4-7"; empty: all
  threads: string; // the same, of each rank
  ranOn: string; // the same, of NUMA nodes on whose processors calls and stretches ended
  nodes: string; // the same, of NUMA nodes that a task reads or writes
  access: Access;
}
export const noFilter: EventFilter = { kind: "", text: "", inside: "", from: 0, to: Infinity, ranks: "", threads: "", ranOn: "", nodes: "", access: "" };
export const isActive = (f: EventFilter): boolean => filterCode(f) !== "";

/** As part of a link. */
export function filterCode(f: EventFilter): string {
  const q = new URLSearchParams();
  if (f.kind) q.set("kind", f.kind);
  if (f.text) q.set("text", f.text);
  if (f.inside) q.set("inside", f.inside);
  if (f.from > 0) q.set("from", String(f.from));
  if (f.to < Infinity) q.set("to", String(f.to));
  if (f.ranks) q.set("ranks", f.ranks);
  if (f.threads) q.set("threads", f.threads);
  if (f.ranOn) q.set("on", f.ranOn);
  if (f.nodes) q.set("nodes", f.nodes);
  if (f.nodes && f.access) q.set("access", f.access);
  return q.toString();
}
/** As a question to the server, which knows no NUMA nodes of data. */
export function filterQuestion(f: EventFilter): Record<string, string | number> {
  const list = (text: string): string => text.replace(/\s/g, ""),
    whole = (ns: number): number => Math.min(ns, Number.MAX_SAFE_INTEGER);
  return {
    ...(f.kind && { only: f.kind }),
    ...(f.text && { with: f.text }),
    ...(f.inside && { inside: f.inside }),
    ...(f.from > 0 && { least: whole(f.from) }),
    ...(f.to < Infinity && { most: whole(f.to) }),
    ...(f.ranks && { on_ranks: list(f.ranks) }),
    ...(f.threads && { on_threads: list(f.threads) }),
    ...(f.ranOn && { on_nodes: list(f.ranOn) }),
  };
}
/** Ignores what makes no sense. */
export function filterOf(code: string): EventFilter {
  const q = new URLSearchParams(code),
    kind = q.get("kind") ?? "",
    ns = (name: string, otherwise: number): number => (/^\d+(\.\d+)?$/.test(q.get(name) ?? "") ? Math.round(Number(q.get(name))) : otherwise),
    list = (name: string): string => (listProblem(q.get(name) ?? "") ? "" : (q.get(name) ?? "")),
    from = ns("from", 0),
    to = ns("to", Infinity),
    access = q.get("access") ?? "";
  return {
    kind: ["calls", "tasks", "regions"].includes(kind) ? (kind as EventFilter["kind"]) : "",
    text: q.get("text") ?? "",
    inside: q.get("inside") ?? "",
    from: from <= to ? from : 0,
    to: from <= to ? to : Infinity,
    ranks: list("ranks"),
    threads: list("threads"),
    ranOn: list("on"),
    nodes: list("nodes"),
    access: access === "read" || access === "written" ? access : "",
  };
}

/** null: not a list of numbers. */
export function ranksOf(text: string): [number, number][] | null {
  const list: [number, number][] = [];
  for (const part of text.split(",")) {
    const [, from, to] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
    if (from === undefined || Number(to ?? from) < Number(from)) return null;
    list.push([Number(from), Number(to ?? from)]);
  }
  return list;
}

const isIn = (list: [number, number][], number: number): boolean => list.some(([from, to]) => number >= from && number <= to);

/** What is wrong with a list of numbers that is typed; empty: nothing, or there is none. */
export const listProblem = (text: string): string => (text.trim() === "" || ranksOf(text) ? "" : "not a list of numbers such as 0,4-7");
/** The same of a duration. */
export const timeProblem = (text: string): string => (text.trim() === "" || timeOf(text) !== null ? "" : "not a time such as 20 us or 1.5 ms");

const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
/** "1.5 ms" in ns; without unit: µs; null: not a time. */
export function timeOf(text: string): number | null {
  const [, value, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?\s*$/.exec(text.replace("\u202f", " ")) ?? [];
  return value === undefined ? null : Math.round(Number(value) * units[unit ?? "us"]!);
}

/** What a filter says of the calls, regions and stretches of all rows, each by its number in its row. */
export class Passing {
  readonly isActive: boolean;
  private readonly text: string;
  private readonly inside: string;
  private readonly ranks: [number, number][] | null;
  private readonly threads: [number, number][] | null;
  private readonly ranOn: [number, number][] | null;
  private readonly nodes: [number, number][] | null;
  private readonly node = new Map<number, boolean>();
  private readonly below = new Map<number, boolean>(); // by node: in a function that is wanted
  private readonly type: boolean[];
  private readonly rows: Uint8Array[] = [];

  constructor(
    private readonly data: Data,
    private readonly events: Events,
    readonly filter: EventFilter,
  ) {
    this.isActive = isActive(filter);
    this.text = filter.text.toLowerCase();
    this.inside = filter.inside.toLowerCase();
    this.ranks = filter.ranks ? ranksOf(filter.ranks) : null;
    this.threads = filter.threads ? ranksOf(filter.threads) : null;
    this.ranOn = filter.ranOn ? ranksOf(filter.ranOn) : null;
    this.nodes = filter.nodes ? ranksOf(filter.nodes) : null;
    this.type = data.header.events!.types.map((type) => this.has(`${type.function} ${type.source}`));
  }

  private has = (name: string): boolean => name.toLowerCase().includes(this.text);

  /** A thread, where it is in no call. */
  outside(row: number): boolean {
    const { kind, text, inside, from, to } = this.filter;
    return this.isOfThread(row) && !this.nodes && !this.ranOn && !kind && !text && !inside && from === 0 && to === Infinity;
  }

  /** @param row -1, of an end of a message that is not known: no */
  of(row: number, call: number): boolean {
    if (row < 0) return false;
    return !this.isActive || this.row(row)[call] === 1;
  }

  /** By call of a row: 1 if it passes. */
  private row(row: number): Uint8Array {
    let out = this.rows[row];
    if (out) return out;
    const { calls } = this.events.rows[row]!,
      { tasks, rows } = this.events,
      { kind, from, to } = this.filter,
      states = this.data.header.events!.states.length,
      isTimed = from > 0 || to < Infinity;
    this.rows[row] = out = new Uint8Array(calls.begin.length);
    if (!this.isOfThread(row)) return out;
    for (let call = 0; call < out.length; ++call) {
      const isRun = call >= calls.runs,
        task = isRun ? calls.task[call - calls.runs]! : -1;
      if (kind && kind !== (isRun ? "tasks" : calls.state[call]! >= states ? "regions" : "calls")) continue;
      if (this.ranOn && !(calls.ranOn && isIn(this.ranOn, calls.ranOn[call]!))) continue;
      if (this.nodes && !(task >= 0 && tasks.places?.touches(tasks, task, this.nodes, this.filter.access ?? ""))) continue;
      if (isTimed) {
        const ns = task >= 0 ? tasks.duration(task, rows) : calls.end[call]! - calls.begin[call]!;
        if (ns < from || ns > to) continue;
      }
      if (this.inside && !this.isInside(calls.node[call]!)) continue;
      if (!this.text || (task >= 0 ? this.type[tasks.type[task]!]! : this.isOfNode(calls.node[call]!))) out[call] = 1;
    }
    return out;
  }

  private isOfThread(row: number): boolean {
    const { rank, thread } = this.events.rows[row]!;
    return (!this.ranks || isIn(this.ranks, rank)) && (!this.threads || isIn(this.threads, thread));
  }
  /** The function itself, or one that called it. */
  private isInside(node: number): boolean {
    const { parent } = this.data.header.nodes,
      path: number[] = [];
    let at = node;
    for (; at > 0 && !this.below.has(at); at = parent[at]!) path.push(at);
    let known = at > 0 && this.below.get(at)!;
    for (const one of path.reverse()) this.below.set(one, (known ||= functionName(this.data, one).toLowerCase().includes(this.inside)));
    return known;
  }
  private isOfNode(node: number): boolean {
    let known = this.node.get(node);
    if (known === undefined) this.node.set(node, (known = this.has(functionName(this.data, node))));
    return known;
  }
}
