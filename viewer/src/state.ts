// What the page shows. The fragment of the URL holds it, and listeners learn of changes.
import { causeSelection } from "./causes";
import type { Data } from "./data";
import { curvesInto, curvesOf, noCurves, type CurveState } from "./events/curve_state";
import { filterCode, filterOf, noFilter, type EventFilter } from "./events/filter";
import { noShades, shadeCode, shadesOf, type ShadeState } from "./events/shade_state";
import { clampedSpan } from "./moving";
import { Renumbering } from "./renumbering";
import { selectionCode, selectionOf, type Selection } from "./selection";

export type Coloring = "share" | "imbalance" | "difference";
/** The call paths from main down, or functions with their callers. */
export type Direction = "down" | "up";
/** What the value map shows of a time: itself, or how far it lies from the median rank of the iteration. */
export type Measure = "value" | "deviation";
export type Sorting = "value" | "name" | "imbalance";

/** Iterations from, to, ranks from, to. */
export type Zoom = [number, number, number, number];

/** Rows of the strip: a cluster each, ranks in the order of clusters, ranks. */
export type StripRows = "clusters" | "ordered" | "ranks";

/** What the colours of the timeline say. */
export type EventMode = "state" | "duration" | "type" | "task_duration" | "read_map" | "write_map" | "remote" | "kind";
/** A part of the timeline: times on the axis, or one iteration, where each rank has it. */
export type EventSpan = { from: number; to: number } | { phase: number; number: number };

/** A task of OpenMP: its number is unique in its rank. */
export interface TaskName {
  rank: number;
  number: number;
}

export interface State {
  phase: number; // whose iterations are shown, -1 if no phase has any
  map: string; // metric of graph and value map
  measure: Measure;
  row: number; // metric of the trees
  node: number; // call path
  direction: Direction;
  caller: number; // row of the functions and their callers, -1: none
  a: Selection;
  b: Selection | null;
  coloring: Coloring;
  sorting: Sorting;
  zoom: Zoom;
  pooling: "max" | "mean";
  rows: StripRows;
  depth: number; // of the strip; -1: significant call paths
  time: [number, number]; // ns: what the strip shows
  cause: number; // -1: none
  moment: [number, number]; // ns: what the timeline shows
  eventMode: EventMode;
  eventShades: ShadeState;
  eventSpan: EventSpan | null;
  eventFilter: EventFilter;
  task: TaskName | null; // that is selected
  curves: CurveState;
  theme: "auto" | "light" | "dark";
}

type Listener = (changed: ReadonlySet<keyof State>) => void;

export class Store {
  state: State;
  /** Of a page that nobody has touched. */
  readonly first: State;
  private listeners: Listener[] = [];
  private isOver = false;

  /** @param before that of the page that this one renews */
  constructor(
    readonly data: Data,
    before: Store | null = null,
  ) {
    const phases = data.header.phases;
    let phase = -1,
      most = -1;
    phases.forEach((p, i) => {
      const sum = p.inclusive.reduce((x, y) => x + y, 0);
      if (p.iterations && !p.frame && sum > most) {
        most = sum;
        phase = i;
      }
    });
    this.state = {
      phase,
      map: phase < 0 ? "" : phases[phase]!.maps![0]!.name,
      measure: "value",
      row: 0,
      node: 0,
      direction: "down",
      caller: -1,
      a: { phase: -1, from: 0, to: 0, ranks: null },
      b: null,
      coloring: "share",
      sorting: "value",
      zoom: this.wholeZoom(phase),
      pooling: "max",
      rows: (data.header.strip?.clusters.length ?? 0) > 1 ? "clusters" : "ranks",
      depth: -1,
      time: this.wholeTime(),
      cause: -1,
      moment: this.wholeMoment(),
      eventMode: "state",
      eventShades: noShades,
      eventSpan: null,
      eventFilter: noFilter,
      task: null,
      curves: noCurves,
      theme: "auto",
    };
    this.first = { ...this.state };
    if (before) renew(this, before);
    else this.read(location.hash.slice(1));
  }

  /** Another page takes over. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  wholeZoom(phase: number): Zoom {
    return [0, phase < 0 ? 1 : this.data.header.phases[phase]!.iterations!, 0, Math.max(1, this.data.header.job.ranks)];
  }

  wholeTime(): [number, number] {
    const { strip, laid_end } = this.data.header;
    return [0, Math.max(1, strip ? strip.point * strip.points : laid_end)];
  }

  wholeMoment(): [number, number] {
    return [0, Math.max(1, this.data.header.events?.end ?? 1)];
  }

  /** At least 200 ns. */
  clampedMoment(range: [number, number]): [number, number] {
    return clampedSpan(range, this.wholeMoment(), 200);
  }

  /** At least a millionth of the run. */
  clampedTime([from, to]: [number, number]): [number, number] {
    return clampedSpan([from, to], this.wholeTime(), this.wholeTime()[1] / 1e6);
  }

  /** Calls the listener when one of these has changed. */
  on(keys: (keyof State)[], listener: () => void): void {
    this.listeners.push((changed) => {
      if (keys.some((key) => changed.has(key))) listener();
    });
  }

  set(change: Partial<State>): void {
    const changed = new Set<keyof State>();
    for (const [key, value] of Object.entries(change) as [keyof State, never][])
      if (this.state[key] !== value) {
        this.state[key] = value;
        changed.add(key);
      }
    if (changed.size === 0) return;
    for (const listener of this.listeners) listener(changed);
    this.remember();
  }

  private timer = 0;
  private remember(): void {
    clearTimeout(this.timer);
    if (this.isOver) return;
    this.timer = window.setTimeout(() => {
      try {
        history.replaceState(null, "", "#" + this.link());
      } catch {
        /* too often for the browser: the next change tries again */
      }
    }, 150);
  }

  link(): string {
    const s = this.state,
      q = new URLSearchParams();
    if (s.phase >= 0) {
      q.set("phase", this.data.header.phases[s.phase]!.name);
      q.set("map", s.map);
      if (s.measure !== "value") q.set("show", s.measure);
    }
    q.set("metric", this.data.header.metrics[s.row]!.name);
    if (this.data.header.snapshot) q.set("snapshot", String(this.data.header.snapshot));
    if (s.node) q.set("path", String(s.node));
    if (s.direction === "up") {
      q.set("tree", "up");
      if (s.caller >= 0) q.set("caller", String(s.caller));
    }
    q.set("a", selectionCode(s.a));
    if (s.b) q.set("b", selectionCode(s.b));
    q.set("color", s.coloring);
    q.set("sort", s.sorting);
    const whole = this.wholeZoom(s.phase);
    if (s.zoom.some((z, i) => z !== whole[i])) q.set("zoom", s.zoom.map((z) => +z.toFixed(2)).join(","));
    q.set("rows", s.rows);
    if (s.depth >= 0) q.set("depth", String(s.depth));
    if (s.time[0] > 0 || s.time[1] < this.wholeTime()[1]) q.set("time", s.time.map((t) => Math.round(t)).join(","));
    if (s.moment[0] > 0 || s.moment[1] < this.wholeMoment()[1]) q.set("moment", s.moment.map((t) => Math.round(t)).join(","));
    if (s.eventMode !== "state") q.set("events", s.eventMode);
    if (shadeCode(s.eventShades)) q.set("shades", shadeCode(s.eventShades));
    if (s.eventSpan) q.set("span", "phase" in s.eventSpan ? `${s.eventSpan.phase}.${s.eventSpan.number}` : `${s.eventSpan.from}-${s.eventSpan.to}`);
    if (filterCode(s.eventFilter)) q.set("filter", filterCode(s.eventFilter));
    if (s.task) q.set("task", `${s.task.rank}.${s.task.number}`);
    curvesInto(q, s.curves);
    if (s.cause >= 0) q.set("cause", String(s.cause + 1));
    if (s.pooling !== "max") q.set("pool", s.pooling);
    if (s.theme !== "auto") q.set("theme", s.theme);
    return q.toString();
  }

  /** Reads a link, and ignores what makes no sense: users edit it. */
  private read(text: string): void {
    const q = new URLSearchParams(text),
      s = this.state,
      h = this.data.header;
    const phase = h.phases.findIndex((p) => p.iterations && p.name === q.get("phase"));
    if (phase >= 0) {
      s.phase = phase;
      s.map = h.phases[phase]!.maps![0]!.name;
      s.zoom = this.wholeZoom(phase);
    }
    if (s.phase >= 0 && this.data.map(s.phase, q.get("map") ?? "")) s.map = q.get("map")!;
    if (q.get("show") === "deviation") s.measure = "deviation";
    const row = h.metrics.findIndex((m) => m.name === q.get("metric"));
    if (row >= 0) s.row = row;
    // Numbers mean something else in another state of the job.
    if ((q.get("snapshot") ?? "0") !== String(h.snapshot)) for (const key of ["path", "caller", "a", "b", "cause", "span"]) q.delete(key);
    const node = Number(q.get("path"));
    if (Number.isInteger(node) && node >= 0 && node < this.data.nodes) s.node = node;
    if (q.get("tree") === "up") s.direction = "up";
    const caller = Number(q.get("caller") ?? -1);
    if (s.direction === "up" && Number.isInteger(caller) && caller >= 0 && caller < this.data.bottomUp().parent.length) s.caller = caller;
    s.a = selectionOf(h, q.get("a")) ?? s.a;
    s.b = selectionOf(h, q.get("b"));
    if (["share", "imbalance", "difference"].includes(q.get("color") ?? "")) s.coloring = q.get("color") as Coloring;
    if (["value", "name", "imbalance"].includes(q.get("sort") ?? "")) s.sorting = q.get("sort") as Sorting;
    if (["ordered", "ranks", ...(h.strip ? ["clusters"] : [])].includes(q.get("rows") ?? "")) s.rows = q.get("rows") as StripRows;
    const depth = Number(q.get("depth") ?? -1);
    if (Number.isInteger(depth) && depth >= 0) s.depth = depth;
    const time = (q.get("time") ?? "").split(",").map(Number);
    if (time.length === 2 && time.every(isFinite)) s.time = this.clampedTime(time as [number, number]);
    const moment = (q.get("moment") ?? "").split(",").map(Number);
    if (moment.length === 2 && moment.every(isFinite)) s.moment = this.clampedMoment(moment as [number, number]);
    const tasks = h.events?.types.length ? ["type", "task_duration", ...(h.events.task_nodes ? ["read_map", "write_map", "remote"] : [])] : [],
      modes = ["duration", "kind", ...tasks];
    if (modes.includes(q.get("events") ?? "")) s.eventMode = q.get("events") as EventMode;
    s.eventShades = shadesOf(q.get("shades") ?? "");
    s.eventFilter = filterOf(q.get("filter") ?? "");
    if (!h.events?.task_nodes) s.eventFilter = { ...s.eventFilter, nodes: "", access: "" }; // of another page: nobody could see or change it
    const [, rank, number] = /^(\d+)\.(\d+)$/.exec(q.get("task") ?? "") ?? [];
    if (rank !== undefined) s.task = { rank: Number(rank), number: Number(number) };
    s.curves = curvesOf(q);
    s.eventSpan = eventSpanOf(q.get("span") ?? "", h.phases.length);
    const cause = Number(q.get("cause") ?? 0) - 1;
    if (Number.isInteger(cause) && cause >= 0 && cause < h.causes.list.length) {
      s.cause = cause;
      if (!q.has("a")) s.a = causeSelection(this.data, cause);
    }
    if (q.get("pool") === "mean") s.pooling = "mean";
    if (q.get("theme") === "dark" || q.get("theme") === "light") s.theme = q.get("theme") as "dark" | "light";
    const zoom = (q.get("zoom") ?? "").split(",").map(Number);
    if (zoom.length === 4 && zoom.every(isFinite)) s.zoom = this.clampedZoom(zoom as [number, number, number, number]);
  }

  clampedZoom(z: Zoom): Zoom {
    const whole = this.wholeZoom(this.state.phase);
    return [...clampedSpan([z[0], z[1]], [0, whole[1]], 8), ...clampedSpan([z[2], z[3]], [0, whole[3]], 2)];
  }
}

function eventSpanOf(text: string, phases: number): EventSpan | null {
  const [one, other] = (/^\d+[.-]\d+$/.exec(text)?.[0] ?? "").split(/[.-]/).map(Number);
  if (one === undefined || other === undefined) return null;
  if (text.includes("-")) return other > one ? { from: one, to: other } : null;
  return one < phases ? { phase: one, number: other } : null;
}

/** Takes over what the page before shows. What nobody has chosen is what a new page shows. */
function renew(store: Store, before: Store): void {
  const s = before.state,
    { first, data } = store,
    numbers = new Renumbering(before.data, data),
    isWhole = (now: number[], whole: number[]): boolean => now.every((value, i) => value === whole[i]),
    wholeZoom = before.wholeZoom(s.phase),
    isUntouched = s.phase === before.first.phase && isWhole(s.zoom, wholeZoom) && s.a.phase < 0 && (s.b?.phase ?? -1) < 0,
    phase = isUntouched ? first.phase : numbers.phase(s.phase),
    state: State = { ...s, phase: phase < 0 ? first.phase : phase };
  const whole = store.wholeZoom(state.phase),
    isSamePhase = phase >= 0 && phase === numbers.phase(s.phase);
  state.map = isSamePhase && data.map(phase, s.map) ? s.map : (data.header.phases[state.phase]?.maps?.[0]?.name ?? "");
  state.row = Math.max(0, numbers.metric(s.row));
  state.node = numbers.nearestPath(s.node);
  state.caller = s.direction === "up" && s.caller >= 0 ? numbers.rows[s.caller]! : -1;
  state.a = numbers.selection(s.a) ?? first.a;
  state.b = s.b && numbers.selection(s.b);
  if (!state.b && state.coloring === "difference") state.coloring = "share";
  state.zoom = s.zoom.map((value, i) => {
    const axis = i < 2 ? 0 : 2,
      wasWhole = s.zoom[axis] === wholeZoom[axis] && s.zoom[axis + 1] === wholeZoom[axis + 1];
    return wasWhole || !isSamePhase ? whole[i]! : value;
  }) as Zoom;
  state.moment = isWhole(s.moment, before.wholeMoment()) ? first.moment : store.clampedMoment(s.moment);
  if (s.eventSpan && "phase" in s.eventSpan) {
    const ofSpan = numbers.phase(s.eventSpan.phase);
    state.eventSpan = ofSpan < 0 ? null : { ...s.eventSpan, phase: ofSpan };
  }
  state.time = isWhole(s.time, before.wholeTime()) ? first.time : store.clampedTime(s.time);
  if (s.rows === before.first.rows || (s.rows === "clusters" && !data.header.strip)) state.rows = first.rows;
  state.cause = s.cause < 0 ? -1 : numbers.cause(s.cause);
  store.state = state;
}
