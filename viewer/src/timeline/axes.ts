// Where iterations and ranks lie in the picture: three bands over one axis of iterations.
import type { Data } from "../data";
import type { Store, Zoom } from "../state";
import type { Picture } from "../surface";
import { laneHeight } from "./marks";

export const left = 78,
  right = 96;
const gap = 20,
  bottom = 20;

export interface Band {
  y: number;
  h: number;
}
/** What is under the pointer. `rank` is -1 in the graph. */
export interface Cell {
  iteration: number;
  rank: number;
  band: "graph" | "map" | "strip";
}

export class Axes {
  bands: Record<Cell["band"], Band> = { graph: { y: 0, h: 0 }, map: { y: 0, h: 0 }, strip: { y: 0, h: 0 } };

  constructor(
    private data: Data,
    private store: Store,
    private picture: Picture,
  ) {}

  get zoom(): Zoom {
    return this.store.state.zoom;
  }
  get width(): number {
    return this.picture.width - left - right;
  }

  layOut(height: number): void {
    const lanes = this.data.header.causes.list.length * laneHeight,
      free = height - bottom - 3 * gap - 6 - lanes,
      few = this.data.header.job.ranks <= 4;
    const graph = { y: lanes + gap - 2, h: Math.round(free * (few ? 0.5 : 0.36)) };
    const map = { y: graph.y + graph.h + gap, h: Math.round(free * (few ? 0.3 : 0.44)) };
    const strip = { y: map.y + map.h + gap, h: free - graph.h - map.h };
    this.bands = { graph, map, strip };
  }

  iterationAt(x: number): number {
    const [z0, z1] = this.zoom;
    return z0 + ((x - left) / this.width) * (z1 - z0);
  }
  xOf(iteration: number): number {
    const [z0, z1] = this.zoom;
    return left + ((iteration - z0) / (z1 - z0)) * this.width;
  }
  rankAt(y: number, band: Band): number {
    const [, , z2, z3] = this.zoom;
    return z2 + ((y - band.y) / band.h) * (z3 - z2);
  }
  yOf(rank: number, band: Band): number {
    const [, , z2, z3] = this.zoom;
    return band.y + ((rank - z2) / (z3 - z2)) * band.h;
  }
  cellAt(x: number, y: number): Cell | null {
    if (x < left || x > this.picture.width - right) return null;
    const n = this.data.header.phases[this.store.state.phase]!.iterations!;
    const iteration = Math.min(n - 1, Math.max(0, Math.floor(this.iterationAt(x))));
    for (const name of ["graph", "map", "strip"] as const) {
      const band = this.bands[name];
      if (y < band.y - gap / 2 || y > band.y + band.h + gap / 2) continue;
      const rank = name === "graph" ? -1 : Math.min(this.data.header.job.ranks - 1, Math.max(0, Math.floor(this.rankAt(y, band))));
      return { iteration, rank, band: name };
    }
    return null;
  }
}

/** About `count` round numbers from low to high. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / Math.max(1, count),
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((v) => v >= raw * 0.999)!;
  const out: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) out.push(+v.toPrecision(12));
  return out;
}

/** The same of a unit: of bytes multiples of KiB, MiB ... */
export function ticksOf(unit: string, low: number, high: number, count: number): number[] {
  const size = unit === "bytes" ? 1024 ** Math.max(0, Math.floor(Math.log(Math.max(-low, high, 1)) / Math.log(1024))) : 1;
  return ticks(low / size, high / size, count).map((v) => v * size);
}
