// The timeline: three pictures over one axis of iterations: graph, value map, and strip of kinds.
import { causeSelection } from "./causes";
import { clusterName, type Clusters } from "./clusters";
import { themeColor } from "./color";
import type { Data, Spread } from "./data";
import { canDeviate, deviationOf, Deviations } from "./deviations";
import { exactly, grouped, percent, quantity, within } from "./format";
import type { MapHeader } from "./header";
import { hottestRuns, type HotRun } from "./hottest";
import { Ripmap } from "./ripmap";
import { iterationSpans, type Span } from "./selection";
import type { Store, Zoom } from "./state";
import { CanvasSurface, Picture, type Surface } from "./surface";
import { Axes, left, ticks, type Cell } from "./timeline/axes";
import { deviationColors, drawDeviationScale, drawHotRuns } from "./timeline/deviation_map";
import { Graph } from "./timeline/graph";
import { Images } from "./timeline/images";
import { drawKinds } from "./timeline/kinds";
import { drawLanes } from "./timeline/marks";
import { listen } from "./timeline/pointer";
import { drawSelections } from "./timeline/selections";
import { drawMap, drawScale, mapColors } from "./timeline/value_map";

/** Deviations from the median rank, and where they are most. */
interface Imbalance {
  map: MapHeader;
  deviations: Deviations;
  hottest: HotRun[];
}

interface Loaded {
  number: number;
  map: MapHeader;
  spread: Spread;
  levels: Uint8Array;
  values: Float64Array | null;
  clusters: Clusters;
  /** Null if the map shows the values themselves. */
  imbalance: Imbalance | null;
  ripmap: Ripmap;
  colors: Uint32Array;
}

export class Timeline {
  readonly picture: Picture;
  readonly axes: Axes;
  /** What is shown; null until it is loaded. */
  loaded: Loaded | null = null;
  readonly images = new Images();
  private readonly graph: Graph;
  hover: Cell | null = null;
  onHover: (cell: Cell | null) => void = () => {};
  onLoad: () => void = () => {};

  constructor(
    host: HTMLElement,
    readonly data: Data,
    readonly store: Store,
  ) {
    this.picture = new Picture(host, "iterations", (s, _, height) => this.draw(s, height));
    this.picture.canvas.setAttribute("aria-label", "Iteration graph, value map and cluster strip. Drag selects; arrow keys move, plus and minus zoom.");
    this.axes = new Axes(data, store, this.picture);
    this.graph = new Graph(data, this.axes);
    listen(this);
  }

  async load(): Promise<void> {
    const { data } = this,
      { phase, map: name, pooling, measure } = this.store.state,
      map = data.map(phase, name);
    if (!map) return;
    const [spread, levels, clusters, values] = await Promise.all([
      data.spread(phase, map),
      data.levels(phase, map),
      data.clusters(phase),
      data.values(phase, map),
    ]);
    const now = this.store.state;
    if (now.map !== name || now.phase !== phase || now.measure !== measure || now.pooling !== pooling) return; // something else was chosen meanwhile
    const { ranks } = data.header.job,
      imbalance = measure === "deviation" && canDeviate(map, ranks) ? this.imbalanceOf(map, spread, levels, values) : null,
      ripmap = new Ripmap(data.header.phases[phase]!.iterations!, ranks, imbalance ? imbalance.deviations.levels : levels, pooling),
      colors = imbalance ? deviationColors() : mapColors(map);
    this.loaded = { number: (this.loaded?.number ?? 0) + 1, map, spread, levels, values, clusters, imbalance, ripmap, colors };
    this.onLoad();
    this.picture.redraw();
  }

  /** The last one is kept: it takes a while for many cells. */
  private imbalance: Imbalance | null = null;
  private imbalanceOf(map: MapHeader, spread: Spread, levels: Uint8Array, values: Float64Array | null): Imbalance {
    if (this.imbalance?.map === map) return this.imbalance;
    const deviations = new Deviations(map.bounds, spread, levels, values);
    return (this.imbalance = { map, deviations, hottest: hottestRuns(deviations, spread.median, this.data.header.job.ranks) });
  }

  /** One line about a cell, with numbers as exact as the page has them. */
  describe(cell: Cell): string {
    if (!this.loaded) return "";
    const { map, spread, levels, values, clusters, imbalance } = this.loaded,
      { iteration: i, rank } = cell,
      label = within(map.label),
      about = map.exact ? "" : "≈ ",
      show = (value: number): string => quantity(value, map.unit);
    if (rank < 0) {
      if (spread.ranks[i] === 0) return `iteration ${i + 1}: ${label} not known`;
      const [max, median, min] = [spread.maximum, spread.median, spread.minimum].map((list) => show(list[i]!));
      return `iteration ${i + 1}: ${label} ${about}max ${max} (rank ${spread.slowest[i]}), median ${median}, min ${min}`;
    }
    const location = this.data.mainOfRank[rank]!;
    if (location < 0) return `rank ${rank}: no data`;
    const { phase } = this.store.state,
      at = rank * this.data.header.phases[phase]!.iterations! + i,
      level = levels[at]!;
    let text = `iteration ${i + 1}, rank ${rank}: `;
    if (level === 0) return text + (map.told ? "no data" : "not known");
    const row = this.rows.get(`${phase} ${map.name} ${rank}`);
    let low = map.bounds[level - 1]!,
      high = map.bounds[level]!;
    if (values || row) {
      low = high = (row ? row[i]! : values![at]!) - 1;
      text += `${label} ${about}${show(low)} (${exactly(low, map.unit)})`;
    } else {
      void this.askForRow(map, cell);
      text += `${label} ≈ ${show((low + high) / 2)} ± ${show((high - low) / 2)} (step of the colours)`;
    }
    if (imbalance) text += "; " + this.deviationWords(low, high, spread.median[i]!, map.unit);
    const own = clusters.of[location]!,
      c = own.members[i];
    if (c === own.count - 1) text += "; in no cluster";
    else if (c !== undefined) {
      const size = clusters.sizes[own.first + c]!,
        mean = clusters.times[own.first + c]! / Math.max(1, size);
      text += `; cluster ${clusterName(clusters, location, c)}: ${size} iterations, mean ${quantity(mean, "ns")}`;
    }
    return text + (map.exact ? "" : " (estimate: the mean of its cluster)");
  }

  /** Of a value between low and high. */
  private deviationWords(low: number, high: number, median: number, unit: string): string {
    const { value, error } = deviationOf(low, high, median),
      size = Math.abs(value),
      share = (part: number): string => (median > 0 ? ` (${percent(part / median)})` : ""),
      of = `the median rank's ${quantity(median, unit)}`;
    if (value === 0) return error === 0 ? `as ${of}` : `as ${of}, ± ${quantity(error, unit)}${share(error)}`;
    const about = error === 0 ? "" : "≈ ",
      within = error === 0 ? share(size) : ` ± ${quantity(error, unit)}${median > 0 ? ` (${percent(size / median)} ± ${percent(error / median)})` : ""}`;
    return `${about}${quantity(size, unit)}${within} ${value > 0 ? "above" : "below"} ${of}`;
  }

  /** Rows of large maps that the server sent. */
  private rows = new Map<string, Float64Array>();
  private asking = false;
  private async askForRow(map: MapHeader, { rank }: Cell): Promise<void> {
    if (this.asking || !this.data.header.served) return;
    this.asking = true;
    const phase = this.store.state.phase;
    try {
      this.rows.set(`${phase} ${map.name} ${rank}`, await this.data.row(phase, map, rank));
      if (this.hover?.rank === rank && this.loaded?.map === map) this.onHover(this.hover);
    } catch {
      /* the step of the colours remains */
    } finally {
      this.asking = false;
    }
  }

  private draw(s: Surface, height: number): void {
    if (!this.loaded) return;
    const { axes, data, images } = this,
      { number, map, spread, clusters, imbalance, ripmap, colors } = this.loaded;
    axes.layOut(height);
    drawLanes(s, data, this.store.state.cause, 2, left, axes.width, (cause) => this.markPlaces(cause));
    this.graph.draw(s, map, spread);
    const of = `Value map: ${within(map.label)} of every rank and iteration`;
    drawMap(s, axes, images, number, imbalance ? of + ", above or below the median rank of the iteration" : of, ripmap, colors);
    if (imbalance) {
      drawDeviationScale(s, axes, imbalance.deviations);
      drawHotRuns(s, axes, imbalance.hottest);
    } else drawScale(s, axes, map);
    drawKinds(s, axes, images, number, data, clusters);
    this.drawAxis(s);
    drawSelections(s, axes, data, this.store.state);
    if (this.hover && s instanceof CanvasSurface) this.drawCross(s, this.hover);
  }

  /** Pixels of a cause's iterations. */
  private markPlaces(cause: number): Span[] {
    const selection = causeSelection(this.data, cause),
      places: Span[] = [];
    if (selection.phase !== this.store.state.phase) return [];
    for (const [from, to] of iterationSpans(selection)) {
      const x = this.axes.xOf(from);
      if (places.length > 0 && x - places.at(-1)![1] < 1) places.at(-1)![1] = this.axes.xOf(to);
      else places.push([x, this.axes.xOf(to)]);
    }
    return places;
  }

  private drawCross(s: Surface, cell: Cell): void {
    const { axes } = this,
      { graph, map, strip } = axes.bands,
      ink = themeColor("ink"),
      x = axes.xOf(cell.iteration + 0.5);
    s.line([x, graph.y, x, strip.y + strip.h], ink, 0.7);
    if (cell.rank < 0) return;
    for (const band of [map, strip]) {
      const y = axes.yOf(cell.rank + 0.5, band);
      s.line([left, y, left + axes.width, y], ink, 0.7);
    }
  }

  private drawAxis(s: Surface): void {
    const { axes } = this,
      { strip } = axes.bands,
      y = strip.y + strip.h,
      dim = themeColor("dim"),
      frame = themeColor("frame");
    const [z0, z1] = axes.zoom;
    // Iterations count from 1.
    for (const v of ticks(z0 + 1, z1, Math.max(2, Math.floor(axes.width / 90)))) {
      if (!Number.isInteger(v)) continue;
      const x = axes.xOf(v - 0.5);
      s.line([x, y, x, y + 4], frame, 1);
      s.text(grouped(v), x, y + 12, dim, "center");
    }
    s.text("iteration", left - 6, y + 12, dim, "right");
  }

  /** Moves by whole pixels of the pictures, so that most of them need not be drawn again and nothing flickers. */
  pan(iterations: number, ranks: number, from: Zoom = this.store.state.zoom): void {
    const [z0, z1, z2, z3] = from;
    const whole = (by: number, span: number, pixels: number): number => {
      const pixel = span / Math.max(1, Math.floor(pixels)),
        steps = Math.round(by / pixel);
      return pixel * (steps === 0 ? Math.sign(by) : steps);
    };
    const x = whole(iterations, z1 - z0, this.axes.width);
    // The pictures have different heights; the map is the larger one.
    const y = whole(ranks, z3 - z2, this.axes.bands.map.h);
    this.store.set({ zoom: this.store.clampedZoom([z0 + x, z1 + x, z2 + y, z3 + y]) });
  }
  zoomBy(factor: number, axis: "x" | "y", at?: number): void {
    const z = [...this.store.state.zoom] as Zoom,
      k = axis === "x" ? 0 : 2;
    const middle = at ?? (z[k]! + z[k + 1]!) / 2;
    z[k] = middle - (middle - z[k]!) * factor;
    z[k + 1] = middle + (z[k + 1]! - middle) * factor;
    this.store.set({ zoom: this.store.clampedZoom(z) });
  }
}
