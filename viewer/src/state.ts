// What the page shows. The fragment of the URL holds it, and listeners learn of changes.
import type { Data } from "./data";
import { selectionCode, selectionOf, type Selection } from "./selection";

export type Coloring = "share" | "imbalance" | "difference";
/** The call paths from main down, or functions with their callers. */
export type Direction = "down" | "up";
export type Sorting = "value" | "name" | "imbalance";

/** Iterations from, to, ranks from, to. */
export type Zoom = [number, number, number, number];

export interface State {
  phase: number; // whose iterations are shown, -1 if no phase has any
  map: string; // metric of graph and value map
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
  theme: "auto" | "light" | "dark";
}

type Listener = (changed: ReadonlySet<keyof State>) => void;

export class Store {
  state: State;
  private listeners: Listener[] = [];

  constructor(private data: Data) {
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
      theme: "auto",
    };
    this.read(location.hash.slice(1));
  }

  wholeZoom(phase: number): Zoom {
    return [0, phase < 0 ? 1 : this.data.header.phases[phase]!.iterations!, 0, Math.max(1, this.data.header.job.ranks)];
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
    }
    q.set("metric", this.data.header.metrics[s.row]!.name);
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
    const row = h.metrics.findIndex((m) => m.name === q.get("metric"));
    if (row >= 0) s.row = row;
    const node = Number(q.get("path"));
    if (Number.isInteger(node) && node >= 0 && node < this.data.nodes) s.node = node;
    if (q.get("tree") === "up") s.direction = "up";
    const caller = Number(q.get("caller") ?? -1);
    if (s.direction === "up" && Number.isInteger(caller) && caller >= 0 && caller < this.data.bottomUp().parent.length) s.caller = caller;
    s.a = selectionOf(h, q.get("a")) ?? s.a;
    s.b = selectionOf(h, q.get("b"));
    if (["share", "imbalance", "difference"].includes(q.get("color") ?? "")) s.coloring = q.get("color") as Coloring;
    if (["value", "name", "imbalance"].includes(q.get("sort") ?? "")) s.sorting = q.get("sort") as Sorting;
    if (q.get("pool") === "mean") s.pooling = "mean";
    if (q.get("theme") === "dark" || q.get("theme") === "light") s.theme = q.get("theme") as "dark" | "light";
    const zoom = (q.get("zoom") ?? "").split(",").map(Number);
    if (zoom.length === 4 && zoom.every(isFinite)) s.zoom = this.clampedZoom(zoom as [number, number, number, number]);
  }

  clampedZoom(z: Zoom): Zoom {
    const whole = this.wholeZoom(this.state.phase);
    const clamp = (from: number, to: number, most: number, least: number): [number, number] => {
      const width = Math.min(most, Math.max(Math.min(least, most), to - from));
      const start = Math.min(most - width, Math.max(0, from));
      return [start, start + width];
    };
    return [...clamp(z[0], z[1], whole[1], 8), ...clamp(z[2], z[3], whole[3], 2)];
  }
}
