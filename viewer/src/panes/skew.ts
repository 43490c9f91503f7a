// How far ranks run apart: sums of the differences in computing up to each iteration, and calls without a partner.
import { themeColor } from "../color";
import { numbersOf } from "../columns";
import { percent, quantity } from "../format";
import type { GroupsHeader, SkewHeader } from "../header";
import type { Span } from "../selection";
import { CanvasSurface, Picture, type Surface } from "../surface";
import { left, right, ticks } from "../timeline/axes";

const fields = 7,
  barHeight = 18,
  gap = 14;

export interface SkewPoint {
  from: number;
  to: number; // iterations
  behind: number;
  mostBehind: number; // ns, rank
  ahead: number;
  mostAhead: number;
  mean: number; // share of calls without a partner; NaN: not known
  most: number;
  mostDifferent: number; // rank
}

export class SkewPicture {
  readonly picture: Picture;
  private values: Float64Array = new Float64Array();
  private most = { ns: 1, share: 0 };
  /** The point that keys read; null: none. */
  private reading: number | null = null;
  readonly loaded: Promise<void>;

  constructor(
    host: HTMLElement,
    private groups: GroupsHeader,
    private header: SkewHeader,
    private range: () => Span,
    private tell: (text: string | null, byKeys: boolean) => void,
  ) {
    this.picture = new Picture(host, "skew", (surface, width, height) => this.draw(surface, width, height));
    this.picture.canvas.setAttribute(
      "aria-label",
      `How far ranks are behind and ahead of rank ${header.reference} over the iterations. Left and right read it.`,
    );
    this.picture.canvas.onpointermove = (e) => {
      const [from, to] = this.range(),
        x = (e.offsetX - left) / Math.max(1, this.picture.width - left - right),
        point = x < 0 || x >= 1 ? null : this.at(from + (to - from) * x);
      tell(point && this.describe(point), false);
    };
    this.picture.canvas.onpointerleave = () => tell(null, false);
    this.picture.canvas.onblur = () => this.read(null);
    this.picture.canvas.onkeydown = (e) => {
      const [from, to] = this.range(),
        [first, last] = [Math.floor(from / groups.window), Math.ceil(to / groups.window) - 1],
        pixel = Math.max(1, Math.round((to - from) / groups.window / Math.max(1, this.picture.width - left - right))),
        at = this.reading,
        next: Record<string, number> = { ArrowRight: at === null ? first : at + pixel, ArrowLeft: at === null ? last : at - pixel, Home: first, End: last };
      if (!(e.key in next) || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
      e.preventDefault();
      this.read(Math.min(last, Math.max(first, next[e.key]!)));
    };
    this.loaded = numbersOf(header.values).then((values) => {
      this.values = values;
      for (let p = 0; p < header.points; ++p) {
        const { behind, ahead, most } = this.point(p);
        this.most.ns = Math.max(this.most.ns, behind, ahead);
        if (most > this.most.share) this.most.share = most;
      }
      this.picture.redraw();
    });
  }

  private read(point: number | null): void {
    if (point === null && this.reading === null) return;
    this.reading = point;
    this.tell(point === null || point >= this.header.points || this.values.length === 0 ? null : this.describe(this.point(point)), true);
    this.picture.redraw();
  }

  point(p: number): SkewPoint {
    const [behind, mostBehind, ahead, mostAhead, mean, most, mostDifferent] = this.values.subarray(p * fields, (p + 1) * fields) as unknown as number[],
      share = (code: number): number => (code === 0 ? NaN : (code - 1) / this.header.shares),
      from = p * this.groups.window;
    return {
      from,
      to: Math.min(from + this.groups.window, this.groups.iterations),
      behind: behind!,
      mostBehind: mostBehind!,
      ahead: ahead!,
      mostAhead: mostAhead!,
      mean: share(mean!),
      most: share(most!),
      mostDifferent: mostDifferent!,
    };
  }

  private at(iteration: number): SkewPoint | null {
    const p = Math.floor(iteration / this.groups.window);
    return p >= 0 && p < this.header.points && this.values.length > 0 ? this.point(p) : null;
  }

  describe(point: SkewPoint): string {
    const { reference } = this.header,
      where = point.to - point.from === 1 ? `up to iteration ${point.to}` : `up to iterations ${point.from + 1}–${point.to}`,
      parts = [
        ...(point.behind > 0 ? [`rank ${point.mostBehind} computed ${quantity(point.behind, "ns")} more than rank ${reference}`] : []),
        ...(point.ahead > 0 ? [`rank ${point.mostAhead} ${quantity(point.ahead, "ns")} less${point.behind > 0 ? "" : ` than rank ${reference}`}`] : []),
      ],
      calls = Number.isNaN(point.mean)
        ? "which calls have no partner is not known"
        : point.most > 0
          ? `calls without a partner in it: ${percent(point.mean)} on average, ${percent(point.most)} on rank ${point.mostDifferent}`
          : "none is known to make other calls in it";
    return `${where}: ${parts.length > 0 ? parts.join(", ") : `all computed as long as rank ${reference}`}; ${calls}`;
  }

  draw(s: Surface, width: number, height: number): void {
    const w = width - left - right,
      h = height - barHeight - 2 * gap,
      top = gap,
      middle = top + h / 2,
      bars = top + h + gap,
      { ns, share } = this.most,
      [from, to] = this.range();
    if (w <= 0 || this.values.length === 0) return;
    const y = (v: number): number => middle - (v / ns) * (h / 2);
    s.text(`Computing, in sum up to each iteration: ahead of and behind rank ${this.header.reference}`, left, top - 7, themeColor("ink"));
    const upwards = ticks(0, ns, 2);
    for (const v of [...upwards.map((v) => -v), ...upwards.slice(1)]) {
      s.line([left, y(v), left + w, y(v)], themeColor("frame"), 1);
      s.text(quantity(Math.abs(v), "ns"), left - 6, y(v), themeColor("dim"), "right");
    }
    s.text("behind: more", left + w + 6, top + 6, themeColor("max"));
    s.text("ahead: less", left + w + 6, top + h - 6, themeColor("median"));
    s.text(share > 0 ? `Calls without a partner: up to ${percent(share)}` : "Calls without a partner: none known", left, bars - 6, themeColor("ink"));
    s.rect(left, bars, w, barHeight, themeColor("card"));
    const columns = Math.floor(w),
      upper: number[] = [],
      lower: number[] = [];
    for (let x = 0; x < columns; ++x) {
      const first = Math.floor((from + ((to - from) * x) / columns) / this.groups.window),
        last = Math.max(first + 1, Math.ceil((from + ((to - from) * (x + 1)) / columns) / this.groups.window));
      let behind = 0,
        ahead = 0,
        different = 0;
      for (let p = first; p < last && p < this.header.points; ++p) {
        const point = this.point(p);
        behind = Math.max(behind, point.behind);
        ahead = Math.max(ahead, point.ahead);
        if (point.most > different) different = point.most;
      }
      if (first >= this.header.points) break;
      upper.push(left + x, y(behind));
      lower.push(left + x, y(-ahead));
      if (different > 0) s.rect(left + x, bars + barHeight * (1 - different / share), 1, (barHeight * different) / share, themeColor("max"));
    }
    s.line(upper, themeColor("max"));
    s.line(lower, themeColor("median"));
    s.line([left, middle, left + w, middle], themeColor("dim"), 1);
    if (this.reading === null || !(s instanceof CanvasSurface)) return;
    const x = left + (((this.reading + 0.5) * this.groups.window - from) / (to - from)) * w;
    if (x >= left && x <= left + w) s.line([x, top, x, bars + barHeight], themeColor("ink"), 0.7);
  }
}
