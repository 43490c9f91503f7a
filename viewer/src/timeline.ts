// Three pictures over one axis of iterations: the iteration graph, the value map, the cluster strip.
import { amount, clusterColors, css, pixel, themeColor } from "./color";
import { clusterName, kindLetters, type Clusters } from "./clusters";
import type { Data, Spread } from "./data";
import { exactly, grouped, quantity, within } from "./format";
import type { MapHeader } from "./header";
import type { Selection } from "./selection";
import { type Part, Ripmap, shifted } from "./ripmap";
import type { Store } from "./state";
import { Picture, type Surface } from "./surface";

const left = 78,
  right = 96,
  gap = 20,
  bottom = 20;

interface Band {
  y: number;
  h: number;
}
export interface Hover {
  iteration: number;
  rank: number;
  band: "graph" | "map" | "strip";
}

export class Timeline {
  readonly picture: Picture;
  private map: MapHeader | null = null;
  private spread: Spread | null = null;
  private ripmap: Ripmap | null = null;
  private levels: Uint8Array | null = null;
  private values: Float64Array | null = null;
  private clusters: Clusters | null = null;
  private colors = new Uint32Array(256);
  private clusterColors = clusterColors.map(pixel);
  private bands: { graph: Band; map: Band; strip: Band } = { graph: { y: 0, h: 0 }, map: { y: 0, h: 0 }, strip: { y: 0, h: 0 } };
  private hover: Hover | null = null;
  private drag: { kind: "select" | "pan"; x: number; y: number; band: Hover["band"]; zoom: State4; at: Hover } | null = null;
  onHover: (hover: Hover | null) => void = () => {};

  constructor(
    host: HTMLElement,
    private data: Data,
    private store: Store,
  ) {
    this.picture = new Picture(host, "iterations", (s, w, h) => this.draw(s, w, h));
    this.picture.canvas.setAttribute("aria-label", "Iteration graph, value map and cluster strip. Drag selects; arrow keys move, plus and minus zoom.");
    this.listen();
  }

  async load(): Promise<void> {
    const s = this.store.state;
    const map = this.data.map(s.phase, s.map);
    if (!map) return;
    const [spread, levels, clusters, values] = await Promise.all([
      this.data.spread(s.phase, map),
      this.data.levels(s.phase, map),
      this.data.clusters(s.phase),
      this.data.values(s.phase, map),
    ]);
    if (this.store.state.map !== map.name || this.store.state.phase !== s.phase) return; // somebody was faster
    ++this.loaded;
    Object.assign(this, { map, spread, levels, clusters, values });
    const iterations = this.data.header.phases[s.phase]!.iterations!;
    this.ripmap = new Ripmap(iterations, this.data.header.job.ranks, levels, s.pooling);
    const used = map.bounds.length - 1;
    this.colors[0] = 0;
    for (let l = 1; l < 256; ++l) this.colors[l] = pixel(amount(used < 2 ? 0.5 : (l - 1) / (used - 1)));
    this.picture.redraw();
  }

  // ---- what lies where
  private iterationAt(x: number): number {
    const [z0, z1] = this.store.state.zoom;
    return z0 + ((x - left) / (this.picture.width - left - right)) * (z1 - z0);
  }
  private xOf(iteration: number): number {
    const [z0, z1] = this.store.state.zoom;
    return left + ((iteration - z0) / (z1 - z0)) * (this.picture.width - left - right);
  }
  private rankAt(y: number, band: Band): number {
    const [, , z2, z3] = this.store.state.zoom;
    return z2 + ((y - band.y) / band.h) * (z3 - z2);
  }
  private yOf(rank: number, band: Band): number {
    const [, , z2, z3] = this.store.state.zoom;
    return band.y + ((rank - z2) / (z3 - z2)) * band.h;
  }
  private placeAt(x: number, y: number): Hover | null {
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

  /** One line about the place under the pointer, numbers as exact as the page has them. */
  describe(hover: Hover): string {
    const { map, spread } = this;
    if (!map || !spread) return "";
    const i = hover.iteration;
    const about = map.exact ? "" : "≈ ";
    if (hover.rank < 0) {
      if (spread.ranks[i] === 0) return `iteration ${i + 1}: ${within(map.label)} not known`;
      const max = spread.maximum[i]!,
        median = spread.median[i]!,
        min = spread.minimum[i]!;
      return `iteration ${i + 1}: ${within(map.label)} ${about}max ${quantity(max, map.unit)} (rank ${spread.slowest[i]}), median ${quantity(median, map.unit)}, min ${quantity(min, map.unit)}`;
    }
    const location = this.data.mainOfRank[hover.rank]!;
    if (location < 0) return `rank ${hover.rank}: no data`;
    const iterations = this.data.header.phases[this.store.state.phase]!.iterations!;
    const level = this.levels![hover.rank * iterations + i]!;
    let text = `iteration ${i + 1}, rank ${hover.rank}: `;
    if (level === 0) return text + (map.told ? "no data" : "not known");
    const row = this.rows.get(`${this.store.state.phase} ${map.name} ${hover.rank}`);
    if (this.values || row) {
      const v = (row ? row[i]! : this.values![hover.rank * iterations + i]!) - 1;
      text += `${within(map.label)} ${about}${quantity(v, map.unit)} (${exactly(v, map.unit)})`;
    } else {
      void this.askForRow(map, hover);
      const low = map.bounds[level - 1]!,
        high = map.bounds[level]!;
      const step = (high - low) / 2;
      text += `${within(map.label)} ≈ ${quantity((low + high) / 2, map.unit)} ± ${quantity(step, map.unit)} (step of the colours)`;
    }
    const own = this.clusters!.of[location]!;
    const c = own.members[i];
    if (c !== undefined) {
      if (c === own.count - 1) text += "; in no cluster";
      else
        text += `; cluster ${clusterName(this.clusters!, location, c)}: ${this.clusters!.sizes[own.first + c]} iterations, mean ${quantity(this.clusters!.times[own.first + c]! / Math.max(1, this.clusters!.sizes[own.first + c]!), "ns")}`;
    }
    return text + (map.exact ? "" : " (estimate: the mean of its cluster)");
  }

  /** Exact values of single cells of large maps, where the page can ask for them. */
  private rows = new Map<string, Float64Array>();
  private asking = false;
  private async askForRow(map: MapHeader, hover: Hover): Promise<void> {
    if (this.asking || !this.data.header.served) return;
    this.asking = true;
    const phase = this.store.state.phase;
    try {
      this.rows.set(`${phase} ${map.name} ${hover.rank}`, await this.data.row(phase, map, hover.rank));
      if (this.hover?.rank === hover.rank && this.map === map) this.onHover(this.hover);
    } catch {
      /* the step of the colours remains */
    } finally {
      this.asking = false;
    }
  }

  // ---- drawing
  private draw(s: Surface, width: number, height: number): void {
    const { map, spread } = this;
    if (!map || !spread || !this.ripmap) return;
    const free = height - bottom - 3 * gap - 6;
    const few = this.data.header.job.ranks <= 4;
    const graph = { y: gap - 2, h: Math.round(free * (few ? 0.5 : 0.36)) };
    const mapBand = { y: graph.y + graph.h + gap, h: Math.round(free * (few ? 0.3 : 0.44)) };
    const strip = { y: mapBand.y + mapBand.h + gap, h: free - graph.h - mapBand.h };
    this.bands = { graph, map: mapBand, strip };
    const w = width - left - right;
    const ink = themeColor("ink"),
      dim = themeColor("dim"),
      frame = themeColor("frame");
    this.drawGraph(s, graph, w, ink, dim, frame);
    this.drawMap(s, mapBand, w, ink, dim, frame);
    this.drawStrip(s, strip, w, ink, dim, frame);
    this.drawAxis(s, strip.y + strip.h, w, dim, frame);
    this.drawSelections(s, ink);
    if (this.hover && !(s instanceof Object && "toString" in s && s.constructor.name === "SvgSurface")) {
      const x = this.xOf(this.hover.iteration + 0.5);
      s.line([x, graph.y, x, strip.y + strip.h], ink, 0.7);
      if (this.hover.rank >= 0)
        for (const band of [mapBand, strip]) {
          const y = this.yOf(this.hover.rank + 0.5, band);
          s.line([left, y, left + w, y], ink, 0.7);
        }
    }
  }

  private drawGraph(s: Surface, band: Band, w: number, ink: string, dim: string, frame: string): void {
    const spread = this.spread!,
      map = this.map!;
    const [z0, z1] = this.store.state.zoom;
    const from = Math.max(0, Math.floor(z0)),
      to = Math.min(spread.maximum.length, Math.ceil(z1));
    // The highest value of the whole run, so that panning does not move the scale; extremes are cut and marked.
    if (this.scaleOf !== spread) {
      this.scaleOf = spread;
      const sorted = Float64Array.from(spread.maximum).sort();
      const high = sorted[Math.floor((sorted.length - 1) * 0.98)]!,
        top = sorted[sorted.length - 1]!;
      this.top = (top > 4 * high && high > 0 ? high * 1.6 : top) || 1;
    }
    const top = this.top * 1.04;
    const y = (v: number): number => band.y + band.h * (1 - Math.min(1, v / top));
    const columns = Math.min(Math.max(1, to - from), Math.floor(w));
    const dense = to - from > w / 2; // no room for steps
    type Piece = { upper: number[]; middle: number[]; lower: number[] };
    const pieces: Piece[] = [],
      cut: number[] = []; // between pieces nothing is known
    let piece: Piece | null = null;
    for (let c = 0; c < columns; ++c) {
      const a = from + Math.floor(((to - from) * c) / columns),
        b = from + Math.floor(((to - from) * (c + 1)) / columns);
      let max = 0,
        min = Infinity,
        sum = 0,
        n = 0;
      for (let i = a; i < Math.max(b, a + 1) && i < to; ++i) {
        if (spread.ranks[i] === 0) continue;
        max = Math.max(max, spread.maximum[i]!);
        min = Math.min(min, spread.minimum[i]!);
        sum += spread.median[i]!;
        ++n;
      }
      if (n === 0) {
        piece = null;
        continue;
      }
      if (!piece) pieces.push((piece = { upper: [], middle: [], lower: [] }));
      const { upper, middle, lower } = piece,
        x0 = Math.max(left, this.xOf(a)),
        x1 = Math.min(left + w, this.xOf(Math.max(b, a + 1)));
      if (dense) {
        upper.push(x0, y(max));
        middle.push(x0, y(sum / n));
        lower.push(x0, y(min));
      } else {
        upper.push(x0, y(max), x1, y(max));
        middle.push(x0, y(sum / n), x1, y(sum / n));
        lower.push(x0, y(min), x1, y(min));
      }
      if (max > top) cut.push((x0 + x1) / 2);
    }
    for (const v of ticks(0, top, 4)) {
      s.line([left, y(v), left + w, y(v)], frame, 1);
      s.text(quantity(v, map.unit), left - 6, y(v), dim, "right");
    }
    const [red, blue, green] = [themeColor("max"), themeColor("median"), themeColor("min")];
    for (const { upper, middle, lower } of pieces) {
      const back: number[] = [];
      for (let i = lower.length - 2; i >= 0; i -= 2) back.push(lower[i]!, lower[i + 1]!);
      s.area([...upper, ...back], themeColor("band"));
      // Hairlines of a thousand points are several times as fast as strokes.
      s.line(lower, green, dense ? 1 : 1.1);
      s.line(upper, red, dense ? 1 : 1.1);
      s.line(middle, blue, dense ? 1 : 1.3);
    }
    for (const x of cut) s.area([x - 4, band.y + 2, x + 4, band.y + 2, x, band.y - 5], red);
    s.text(
      map.label + " per iteration, over ranks" + (map.exact ? "" : " (estimated from clusters)") + (map.told ? "" : "; gaps: not known"),
      left,
      band.y - 8,
      ink,
      "left",
      11.5,
    );
    const x = left + w + 8;
    const legend: [string, string][] =
      this.data.header.job.ranks > 1
        ? [
            [red, "max"],
            [blue, "median"],
            [green, "min"],
          ]
        : [[blue, "the rank"]];
    legend.forEach(([color, name], i) => {
      s.line([x, band.y + 8 + i * 16, x + 16, band.y + 8 + i * 16], color, 2.5);
      s.text(name, x + 21, band.y + 8 + i * 16, dim);
    });
    if (cut.length > 0) s.text("▲ cut", x, band.y + 60, dim);
  }
  private scaleOf: Spread | null = null;
  private top = 1;

  /** Pictures of the map and of the strip; drawn again only when what they show has changed, not for each move of the pointer. */
  private images = new Map<string, { of: number; zoom: State4; image: ImageData }>();
  private imageOf(name: string, w: number, h: number, fill: (out: Uint32Array, part: Part) => void): ImageData {
    const zoom = this.store.state.zoom,
      known = this.images.get(name);
    const image = known?.image.width === w && known.image.height === h ? known.image : new ImageData(w, h);
    const out = new Uint32Array(image.data.buffer);
    const move = known && known.of === this.loaded && known.image === image ? pixelsMoved(known.zoom, zoom, w, h) : null;
    if (move?.[0] === 0 && move[1] === 0) return image;
    const parts = move ? shifted(out, w, h, move[0], move[1]) : [{ left: 0, top: 0, right: w, bottom: h }];
    for (const part of parts) {
      for (let y = part.top; y < part.bottom; ++y) out.fill(0, y * w + part.left, y * w + part.right);
      fill(out, part);
    }
    this.images.set(name, { of: this.loaded, zoom, image });
    return image;
  }
  private loaded = 0;

  private drawMap(s: Surface, band: Band, w: number, ink: string, dim: string, frame: string): void {
    const map = this.map!,
      [z0, z1, z2, z3] = this.store.state.zoom;
    const iw = Math.max(1, Math.floor(w)),
      ih = Math.max(1, Math.floor(band.h));
    const image = this.imageOf("map", iw, ih, (out, part) => this.ripmap!.draw(out, iw, ih, z0, z1, z2, z3, this.colors, part));
    s.image(image, left, band.y, w, band.h);
    s.rect(left, band.y, w, band.h, "none", frame);
    this.rankTicks(s, band, dim);
    s.text(`Value map: ${within(map.label)} of every rank and iteration`, left, band.y - 8, ink, "left", 11.5);
    // Legend: equal steps of colour, the values they stand for.
    const x = left + w + 8,
      used = map.bounds.length - 1,
      steps = 40;
    for (let i = 0; i < steps; ++i) s.rect(x, band.y + (band.h * (steps - 1 - i)) / steps, 12, band.h / steps + 0.6, css(amount(i / (steps - 1))));
    const labels = Math.max(2, Math.min(5, Math.floor(band.h / 26)));
    for (let i = 0; i < labels; ++i) {
      const t = i / (labels - 1);
      const value = used < 2 ? map.bounds[0]! : map.bounds[Math.min(used, Math.round(t * used))]!;
      s.text(
        quantity(map.unit === "ns" ? value : Math.round(value), map.unit),
        x + 17,
        Math.min(band.y + band.h - 6, Math.max(band.y + 6, band.y + band.h * (1 - t))),
        dim,
      );
    }
  }

  private drawStrip(s: Surface, band: Band, w: number, ink: string, dim: string, frame: string): void {
    const [z0, z1, z2, z3] = this.store.state.zoom,
      clusters = this.clusters!;
    const iw = Math.max(1, Math.floor(w)),
      ih = Math.max(1, Math.floor(band.h));
    const image = this.imageOf("strip", iw, ih, (out, part) => {
      const iterationOf = new Int32Array(iw);
      for (let x = 0; x < iw; ++x) iterationOf[x] = Math.floor(z0 + ((z1 - z0) * (x + 0.5)) / iw);
      let before = -1;
      for (let y = part.top; y < part.bottom; ++y) {
        const rank = Math.floor(z2 + ((z3 - z2) * (y + 0.5)) / ih);
        if (rank === before) {
          out.copyWithin(y * iw + part.left, (y - 1) * iw + part.left, (y - 1) * iw + part.right);
          continue;
        }
        before = rank;
        const location = this.data.mainOfRank[rank] ?? -1;
        if (location < 0) continue;
        const own = clusters.of[location]!,
          members = own.members;
        for (let x = part.left; x < part.right; ++x) {
          const c = members[iterationOf[x]!];
          if (c === undefined) continue;
          const kind = c < own.count - 1 ? clusters.kinds[own.first + c]! : 0;
          out[y * iw + x] = this.clusterColors[kind === 0 ? 17 : Math.min(kind - 1, 16)]!;
        }
      }
    });
    s.image(image, left, band.y, w, band.h);
    s.rect(left, band.y, w, band.h, "none", frame);
    this.rankTicks(s, band, dim);
    s.text("Kinds: iterations of one colour are alike in what they do, on all ranks", left, band.y - 8, ink, "left", 11.5);
    // Where there is little room, not every colour has its numbers beside it.
    const x = left + w + 8,
      size = Math.min(11, band.h / 10);
    for (let i = 0; i < 8; ++i) {
      s.rect(x, band.y + i * size, 9, size - 1, css(clusterColors[i]!));
      s.rect(x + 11, band.y + i * size, 9, size - 1, css(clusterColors[i + 8]!));
      if (size > 8 || (i % 4 === 0 && size > 4)) s.text(`${kindLetters(i)}, ${kindLetters(i + 8)}`, x + 24, band.y + (i + 0.5) * size, dim, "left", 9);
    }
    s.rect(x, band.y + 8 * size, 20, size - 1, css(clusterColors[16]!));
    s.text("more", x + 24, band.y + 8.5 * size, dim, "left", 9);
    s.rect(x, band.y + 9 * size, 20, size - 1, css(clusterColors[17]!));
    if (size > 8) s.text("none", x + 24, band.y + 9.5 * size, dim, "left", 9);
  }

  private rankTicks(s: Surface, band: Band, dim: string): void {
    const [, , z2, z3] = this.store.state.zoom;
    s.text("rank", left - 42, band.y + band.h / 2, dim, "right");
    for (const v of ticks(z2, z3 - 1, Math.max(1, Math.min(5, Math.floor(band.h / 18)))))
      if (Number.isInteger(v)) s.text(String(v), left - 6, this.yOf(v + 0.5, band), dim, "right");
  }

  private drawAxis(s: Surface, y: number, w: number, dim: string, frame: string): void {
    const [z0, z1] = this.store.state.zoom;
    // Counted from 1.
    for (const v of ticks(z0 + 1, z1, Math.max(2, Math.floor(w / 90)))) {
      if (!Number.isInteger(v)) continue;
      const x = this.xOf(v - 0.5);
      s.line([x, y, x, y + 4], frame, 1);
      s.text(grouped(v), x, y + 12, dim, "center");
    }
    s.text("iteration", left - 6, y + 12, dim, "right");
  }

  private drawSelections(s: Surface, ink: string): void {
    const state = this.store.state;
    const clip = (v: number): number => Math.min(this.picture.width - right, Math.max(left, v));
    const mark = (selection: Selection | null, name: string): void => {
      if (!selection || selection.rest || selection.phase !== state.phase) return;
      const whole = selection.from === 0 && selection.to >= this.data.header.phases[state.phase]!.iterations!;
      if ((whole || selection.to <= selection.from) && !selection.ranks) return;
      const to = selection.to > selection.from ? selection.to : this.data.header.phases[state.phase]!.iterations!;
      const x0 = clip(this.xOf(selection.from)),
        x1 = clip(this.xOf(to));
      if (x1 <= left || x0 >= this.picture.width - right) return;
      const color = themeColor(name === "A" ? "a" : "b");
      const { graph, map, strip } = this.bands;
      if (!whole) s.rect(x0, graph.y, Math.max(2, x1 - x0), graph.h, themeColor(name === "A" ? "a-veil" : "b-veil"), color);
      for (const band of [map, strip]) {
        const y0 = selection.ranks ? Math.min(band.y + band.h, Math.max(band.y, this.yOf(selection.ranks[0], band))) : band.y;
        const y1 = selection.ranks ? Math.min(band.y + band.h, Math.max(band.y, this.yOf(selection.ranks[1], band))) : band.y + band.h;
        if (y1 <= y0) continue;
        s.rect(x0, y0, Math.max(2, x1 - x0), y1 - y0, "none", "#000");
        s.rect(x0 - 1, y0 - 1, Math.max(2, x1 - x0) + 2, y1 - y0 + 2, "none", color);
      }
      s.rect(x0, graph.y, 16, 15, color);
      s.text(name, x0 + 8, graph.y + 8, "#fff", "center", 11);
    };
    void ink;
    mark(state.b, "B");
    mark(state.a, "A");
  }

  // ---- pointer and keys
  /** By whole pixels of the pictures: then most of them need not be drawn again, and nothing flickers. */
  pan(iterations: number, ranks: number, from: State4 = this.store.state.zoom): void {
    const [z0, z1, z2, z3] = from;
    const whole = (by: number, span: number, pixels: number): number => {
      const pixel = span / Math.max(1, Math.floor(pixels)),
        steps = Math.round(by / pixel);
      return pixel * (steps === 0 ? Math.sign(by) : steps);
    };
    const x = whole(iterations, z1 - z0, this.picture.width - left - right);
    // The pictures have different heights; the map is the larger one.
    const y = whole(ranks, z3 - z2, this.bands.map.h);
    this.store.set({ zoom: this.store.clampedZoom([z0 + x, z1 + x, z2 + y, z3 + y]) });
  }
  zoomBy(factor: number, axis: "x" | "y", at?: number): void {
    const z = [...this.store.state.zoom] as State4,
      k = axis === "x" ? 0 : 2;
    const middle = at ?? (z[k]! + z[k + 1]!) / 2;
    z[k] = middle - (middle - z[k]!) * factor;
    z[k + 1] = middle + (z[k + 1]! - middle) * factor;
    this.store.set({ zoom: this.store.clampedZoom(z) });
  }

  private listen(): void {
    const canvas = this.picture.canvas;
    canvas.addEventListener("pointerdown", (e) => {
      const at = this.placeAt(e.offsetX, e.offsetY);
      if (!at) return;
      canvas.setPointerCapture(e.pointerId);
      this.drag = {
        kind: e.button === 1 || e.altKey || e.shiftKey ? "pan" : "select",
        x: e.offsetX,
        y: e.offsetY,
        band: at.band,
        zoom: this.store.state.zoom,
        at,
      };
    });
    canvas.addEventListener("pointermove", (e) => {
      const drag = this.drag;
      if (drag?.kind === "pan") {
        const z = drag.zoom,
          band = this.bands[drag.band];
        const di = ((e.offsetX - drag.x) / (this.picture.width - left - right)) * (z[1] - z[0]);
        const dr = drag.band === "graph" ? 0 : ((e.offsetY - drag.y) / band.h) * (z[3] - z[2]);
        this.pan(-di, -dr, z);
        return;
      }
      this.hover = this.placeAt(Math.min(this.picture.width - right, Math.max(left, e.offsetX)), e.offsetY);
      if (drag && Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 3) this.selectFrom(drag, e.offsetX, e.offsetY);
      this.onHover(this.hover);
      this.picture.redraw();
    });
    canvas.addEventListener("pointerup", (e) => {
      const drag = this.drag;
      this.drag = null;
      if (drag?.kind === "select" && Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) <= 3) {
        // A click: this iteration; in the map of this rank.
        const { iteration, rank } = drag.at;
        this.store.set({ a: { phase: this.store.state.phase, from: iteration, to: iteration + 1, ranks: rank < 0 ? null : [rank, rank + 1] } });
      }
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = null;
      this.onHover(null);
      this.picture.redraw();
    });
    canvas.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.metaKey && !e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return; // the page scrolls
        e.preventDefault();
        if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && !e.ctrlKey) {
          const z = this.store.state.zoom;
          this.pan((e.deltaX / (this.picture.width - left - right)) * (z[1] - z[0]), 0);
          return;
        }
        const at = this.placeAt(e.offsetX, e.offsetY);
        if (!at) return;
        const factor = Math.exp(e.deltaY * 0.002);
        if (e.shiftKey && at.band !== "graph") this.zoomBy(factor, "y", this.rankAt(e.offsetY, this.bands[at.band]));
        else this.zoomBy(factor, "x", this.iterationAt(e.offsetX));
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (e) => {
      const z = this.store.state.zoom,
        step = (z[1] - z[0]) / 10,
        up = (z[3] - z[2]) / 10;
      const a = this.store.state.a;
      const move = (by: number): void => {
        if (a.phase !== this.store.state.phase || a.to <= a.from) return;
        const n = this.data.header.phases[a.phase]!.iterations!,
          width = a.to - a.from;
        const from = Math.min(n - width, Math.max(0, a.from + by));
        this.store.set({ a: { ...a, from, to: from + width } });
      };
      const actions: Record<string, () => void> = {
        ArrowLeft: () => (e.shiftKey ? move(-1) : this.pan(-step, 0)),
        ArrowRight: () => (e.shiftKey ? move(1) : this.pan(step, 0)),
        ArrowUp: () => this.pan(0, -up),
        ArrowDown: () => this.pan(0, up),
        "+": () => this.zoomBy(0.7, "x"),
        "=": () => this.zoomBy(0.7, "x"),
        "-": () => this.zoomBy(1 / 0.7, "x"),
        "0": () => this.store.set({ zoom: this.store.wholeZoom(this.store.state.phase) }),
      };
      const action = actions[e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
  }

  private selectFrom(drag: NonNullable<Timeline["drag"]>, x: number, y: number): void {
    const n = this.data.header.phases[this.store.state.phase]!.iterations!,
      ranks = this.data.header.job.ranks;
    const clamp = (v: number, most: number): number => Math.min(most, Math.max(0, v));
    const i0 = this.iterationAt(Math.min(drag.x, x)),
      i1 = this.iterationAt(Math.max(drag.x, x));
    const a: Selection = { phase: this.store.state.phase, from: clamp(Math.floor(i0), n - 1), to: clamp(Math.ceil(i1), n), ranks: null };
    if (drag.band !== "graph") {
      const band = this.bands[drag.band];
      const r0 = clamp(Math.floor(this.rankAt(Math.min(drag.y, y), band)), ranks - 1),
        r1 = clamp(Math.ceil(this.rankAt(Math.max(drag.y, y), band)), ranks);
      if (!(r0 === 0 && r1 === ranks)) a.ranks = [r0, Math.max(r0 + 1, r1)];
    }
    this.store.set({ a });
  }
}

type State4 = [number, number, number, number];

/** By how many whole pixels one view lies beside the other; null: not so, or of another size. */
function pixelsMoved(from: State4, to: State4, w: number, h: number): [number, number] | null {
  const moved = (a0: number, a1: number, b0: number, b1: number, pixels: number): number => {
    const pixel = (a1 - a0) / pixels,
      by = (b0 - a0) / pixel,
      whole = Math.round(by);
    return Math.abs(b1 - b0 - (a1 - a0)) > 1e-6 * (a1 - a0) || Math.abs(by - whole) > 0.01 ? NaN : whole;
  };
  const dx = moved(from[0], from[1], to[0], to[1], w),
    dy = moved(from[2], from[3], to[2], to[3], h);
  return Number.isNaN(dx) || Number.isNaN(dy) ? null : [dx, dy];
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
