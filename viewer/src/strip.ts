// The strip: what ranks, or clusters of them, do over time. Above it each cause has a lane with marks at its iterations.
import { causeSelection } from "./causes";
import { kindLetters, type Clusters } from "./clusters";
import { clusterColors, css, pixel, themeColor } from "./color";
import type { Data } from "./data";
import { duration, percent } from "./format";
import { hasRank, isRange, iterationSpans, type Span } from "./selection";
import type { Store } from "./state";
import type { Begins } from "./strip/begins";
import { readContexts, type StripContexts } from "./strip/contexts";
import { listen } from "./strip/pointer";
import { rowsOf, type Row } from "./strip/rows";
import { CanvasSurface, Picture, type Surface } from "./surface";
import { left, right, ticks } from "./timeline/axes";
import { Images } from "./timeline/images";
import { drawLanes, laneHeight } from "./timeline/marks";

const bottom = 20;

/** What is under the pointer. `row` is -1 in the lanes; `cause` -1 outside of them. */
export interface StripCell {
  ns: number;
  row: number;
  cause: number;
}

export class Strip {
  readonly picture: Picture;
  rows: Row[] = [];
  contexts: StripContexts | null = null;
  begins = new Map<number, Begins | null>(); // by phase
  private clusters: Clusters | null = null;
  private readonly images = new Images();
  private pixels: Uint32Array = new Uint32Array();
  private content = 0;
  hover: StripCell | null = null;
  onHover: (cell: StripCell | null) => void = () => {};
  zoom: (factor: number) => void = () => {}; // pointer.ts

  constructor(
    host: HTMLElement,
    readonly data: Data,
    readonly store: Store,
  ) {
    this.picture = new Picture(host, "strip", (s) => this.draw(s));
    this.picture.canvas.setAttribute(
      "aria-label",
      "Ranks over time. Drag or click selects; left and right move, up and down change the depth, plus and minus zoom.",
    );
    listen(this);
  }

  async load(): Promise<void> {
    const { data, store } = this,
      { strip, causes } = data.header,
      { phase } = store.state;
    if (strip && !this.contexts) this.contexts = await readContexts(strip);
    for (const p of new Set([phase, ...causes.list.map((c) => c.phase)])) if (p >= 0) this.begins.set(p, await data.begins(p));
    this.clusters = !strip && phase >= 0 ? await data.clusters(phase) : null;
    this.renew();
  }

  /** After a change of what is shown. */
  renew(): void {
    this.rows = rowsOf(this.data, this.store.state.rows);
    if (this.contexts) this.pixels = this.contexts.pixels(this.store.state.depth);
    ++this.content;
    this.picture.redraw();
  }

  get width(): number {
    return Math.max(1, this.picture.width - left - right);
  }
  get top(): number {
    return 6 + this.data.header.causes.list.length * laneHeight;
  }
  get height(): number {
    return Math.max(1, this.picture.height - this.top - bottom);
  }
  timeAt(x: number): number {
    const [t0, t1] = this.store.state.time;
    return t0 + ((x - left) / this.width) * (t1 - t0);
  }
  xOf(ns: number): number {
    const [t0, t1] = this.store.state.time;
    return left + ((ns - t0) / (t1 - t0)) * this.width;
  }
  cellAt(x: number, y: number): StripCell | null {
    if (x < left || x > left + this.width) return null;
    const ns = this.timeAt(x),
      lane = Math.floor((y - 2) / laneHeight);
    if (y < this.top - 3) return lane >= 0 && lane < this.data.header.causes.list.length ? { ns, row: -1, cause: lane } : null;
    const share = Math.min(0.999999, (y - this.top) / this.height);
    return y > this.top + this.height
      ? null
      : {
          ns,
          row: Math.max(
            0,
            this.rows.findIndex((row) => share < row.y + row.h),
          ),
          cause: -1,
        };
  }

  /** The context at a point of a row; -1 if the rank is not running then. */
  contextAt(row: Row, ns: number): number {
    const { strip } = this.data.header;
    if (!this.contexts || row.data < 0 || !strip) return -1;
    const point = Math.min(strip.points - 1, Math.max(0, Math.floor(ns / strip.point)));
    const number = this.contexts.rows[row.data]![point]!;
    return number === 0 ? -1 : this.contexts.shown(number - 1, this.store.state.depth);
  }

  /** The iteration of the phase that is shown; -1 if there is none. */
  iterationAt(row: Row, ns: number): number {
    return this.begins.get(this.store.state.phase)?.at(row.ranks[0]!, ns) ?? -1;
  }

  /** Where iterations lie, in ns, merged where they are closer than `least`. */
  places(phase: number, spans: Span[], rank: number, least: number): Span[] {
    return this.begins.get(phase)?.places(rank, spans, least) ?? [];
  }

  /** Where the iterations of a cause lie, on its first rank. */
  markPlaces(cause: number, least: number): Span[] {
    const selection = causeSelection(this.data, cause),
      whole = this.store.wholeTime();
    if (selection.phase < 0) return [whole];
    const begins = this.begins.get(selection.phase),
      rank = begins?.counts.findIndex((n, r) => n > 0 && hasRank(selection, r)) ?? -1;
    return rank < 0 ? [] : this.places(selection.phase, iterationSpans(selection), rank, least);
  }

  describe(cell: StripCell): string {
    const { causes, strip, phases } = this.data.header;
    if (cell.cause >= 0) return `cause ${cell.cause + 1}: ${causes.list[cell.cause]!.share} ${causes.list[cell.cause]!.sentence}`;
    const row = this.rows[cell.row]!,
      iteration = this.iterationAt(row, cell.ns),
      phase = this.store.state.phase,
      context = this.contextAt(row, cell.ns);
    let text = `${duration(cell.ns)}, ${row.ranks.length === 1 ? "rank" : `${row.ranks.length} ranks,`} ${row.name}`;
    if (iteration >= 0) text += `, iteration ≈ ${iteration + 1} of ${this.data.phaseName(phase)}`;
    if (!strip) {
      const location = this.data.mainOfRank[row.ranks[0]!] ?? -1,
        own = location >= 0 ? this.clusters?.of[location] : undefined,
        c = iteration >= 0 ? own?.members[iteration] : undefined;
      if (own && c !== undefined && c < own.count - 1) {
        const kind = this.clusters!.kinds[own.first + c]!;
        if (kind > 0) text += `: kind ${kindLetters(kind - 1)}`;
      }
      return phases[phase]?.iterations ? text : `${text}: no iterations`;
    }
    if (context < 0) return text + ": no samples";
    const all = strip.tree.time[0]!,
      at = this.contexts!.significantOf[context]!,
      significant = at >= 0 ? strip.significant[at]! : null;
    text += `: ${this.contexts!.path(context).join(" › ")} (${strip.tree.class[context]}, ${percent(all > 0 ? strip.tree.time[context]! / all : 0)} of all ranks' time`;
    return text + (significant ? `; ${significant.context === context ? "" : "inside a path with "}${significant.text})` : ")");
  }

  private draw(s: Surface): void {
    const { top, width: w, height: h } = this,
      { time } = this.store.state,
      dim = themeColor("dim"),
      frame = themeColor("frame");
    if (this.rows.length === 0) return;
    const iw = Math.max(1, Math.floor(w)),
      ih = Math.max(1, Math.floor(h));
    const image = this.images.draw("run", this.content, [time[0], time[1], 0, 1], iw, ih, (out, part) => {
      const perPixel = (time[1] - time[0]) / iw;
      let before = -1;
      for (let y = part.top; y < part.bottom; ++y) {
        const at = this.rows.findIndex((row) => (y + 0.5) / ih < row.y + row.h),
          row = this.rows[at];
        if (!row) continue;
        if (at === before) out.copyWithin(y * iw + part.left, (y - 1) * iw + part.left, (y - 1) * iw + part.right);
        else this.fillRow(out.subarray(y * iw, (y + 1) * iw), row, part.left, part.right, time[0], perPixel);
        before = at;
      }
    });
    s.image(image, left, top, w, h);
    // Lines between rows that are high enough, and their names where there is room.
    let named = -20;
    for (const row of this.rows) {
      const y = top + row.y * h;
      if (row.h * h >= 8 && row.y > 0) s.line([left, y, left + w, y], themeColor("paper"), 1);
      const middle = y + (row.h * h) / 2;
      if (middle - named < 13) continue;
      named = middle;
      s.text(row.name, left - 6, middle, dim, "right");
    }
    s.rect(left, top, w, h, "none", frame);
    for (const ns of ticks(time[0] / 1e9, time[1] / 1e9, Math.max(2, Math.floor(w / 110))).map((t) => t * 1e9)) {
      const x = this.xOf(ns);
      s.line([x, top + h, x, top + h + 4], frame, 1);
      s.text(duration(ns), x, top + h + 12, dim, "center");
    }
    const least = (time[1] - time[0]) / w;
    drawLanes(s, this.data, this.store.state.cause, 2, left, w, (cause) => this.markPlaces(cause, least).map(([from, to]) => [this.xOf(from), this.xOf(to)]));
    this.drawLegend(s);
    if (this.hover && s instanceof CanvasSurface) {
      const x = this.xOf(this.hover.ns);
      s.line([x, 2, x, top + h], themeColor("ink"), 0.7);
    }
  }

  private drawLegend(s: Surface): void {
    if (this.contexts) return; // it is below the picture
    const x = left + this.width + 8,
      kinds = this.clusters?.kinds.reduce((most, kind) => Math.max(most, kind), 0) ?? 0;
    for (let i = 0; i < Math.min(kinds, 8) && (i + 1) * 13 < this.height; ++i) {
      s.rect(x, this.top + i * 13, 9, 9, css(clusterColors[i]!));
      s.text("kind " + kindLetters(i), x + 14, this.top + i * 13 + 5, themeColor("dim"), "left", 10);
    }
  }

  /** Fades what is not selected, so that a selection stands out over any colours. */
  private fillRow(out: Uint32Array, row: Row, from: number, to: number, start: number, perPixel: number): void {
    const { data, store } = this,
      { a, phase } = store.state,
      { strip } = data.header;
    const location = data.mainOfRank[row.ranks[0]!] ?? -1,
      own = location >= 0 ? this.clusters?.of[location] : undefined,
      source = this.contexts && row.data >= 0 ? this.contexts.rows[row.data]! : null;
    for (let x = from; x < to; ++x) {
      const ns = start + (x + 0.5) * perPixel;
      if (source) out[x] = this.pixels[mostIn(source, (start + x * perPixel) / strip!.point, (start + (x + 1) * perPixel) / strip!.point)]!;
      else {
        const iteration = this.begins.get(phase)?.at(row.ranks[0]!, ns) ?? -1,
          c = iteration >= 0 ? own?.members[iteration] : undefined;
        if (c === undefined) continue;
        const kind = c < own!.count - 1 ? this.clusters!.kinds[own!.first + c]! : 0;
        out[x] = pixel(clusterColors[kind === 0 ? 17 : Math.min(kind - 1, 16)]!);
      }
    }
    const selected = row.ranks.filter((rank) => hasRank(a, rank)),
      whole = !a.rest && !isRange(data, a);
    if (whole && selected.length === row.ranks.length) return;
    const lit = new Uint8Array(to);
    if (selected.length > 0 && (whole || (a.rest && a.ranks !== null && !isRange(data, a)))) lit.fill(1);
    else if (selected.length > 0) {
      for (const [begin, end] of this.places(a.phase, iterationSpans(a), selected[0]!, perPixel / 2)) {
        const first = Math.max(0, Math.floor((begin - start) / perPixel));
        lit.fill(1, first, Math.max(first + 1, Math.ceil((end - start) / perPixel)));
      }
      if (a.rest && a.ranks === null) for (let x = 0; x < to; ++x) lit[x] = 1 - lit[x]!;
    }
    for (let x = from; x < to; ++x) if (!lit[x] && out[x] !== 0) out[x] = (out[x]! & 0xffffff) | 0x38000000;
  }
}

/** The number that is most often in a range of points. */
function mostIn(row: Uint32Array, from: number, to: number): number {
  const first = Math.max(0, Math.min(row.length - 1, Math.floor(from))),
    end = Math.max(first + 1, Math.min(row.length, Math.ceil(to)));
  let best = row[first]!,
    most = 0;
  for (let i = first; i < end && end - i > most; ++i) {
    let times = 0;
    for (let k = i; k < end; ++k) times += row[k] === row[i] ? 1 : 0;
    if (times > most) {
      most = times;
      best = row[i]!;
    }
  }
  return best;
}
