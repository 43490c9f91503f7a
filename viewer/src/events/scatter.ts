// Durations of tasks or calls over an amount of theirs: a point for each, and the line through them.
import { css, themeColor, warmth } from "../color";
import { duration, grouped, percent, plural, quantity } from "../format";
import type { Surface } from "../surface";
import { ticks, ticksOf, type Band } from "../timeline/axes";
import { markCut, topOf } from "../timeline/scale";
import type { Fit, Series } from "./amounts";

const left = 62,
  right = 30,
  top = 8,
  bottom = 34,
  size = 3; // pixels of a cell: one is drawn once, however many points lie in it

export const amountWords = (value: number, unit: string): string => (unit ? quantity(value, unit) : grouped(value));
const one = (series: Series): string => (series.isOfTasks ? "task" : "call");

/** The points that lie in a cell, by their numbers in the series. */
export interface Cell {
  x: number;
  y: number;
  points: number[];
}

export class Scatter {
  private readonly cells = new Map<number, number[]>();
  private readonly range: { x: [number, number]; y: number };
  private readonly isCut: boolean; // durations are beyond their axis

  constructor(
    readonly series: Series,
    readonly fit: Fit,
    private readonly width: number,
    private readonly height: number,
  ) {
    const { amounts, durations } = series,
      least = amounts.reduce((a, b) => Math.min(a, b), Infinity),
      to = topOf(amounts),
      longest = topOf(durations),
      from = least > 0.7 * to ? least - 0.05 * (to - least || least) : 0; // an axis from 0, unless little would be seen
    this.range = { x: [from, to + 0.03 * (to - from || 1)], y: 1.05 * (longest || 1) };
    this.isCut = durations.some((ns) => ns > this.range.y);
    for (let i = 0; i < amounts.length; ++i) {
      const key = this.keyAt(this.x(amounts[i]!), this.y(durations[i]!)),
        cell = this.cells.get(key);
      if (cell) cell.push(i);
      else this.cells.set(key, [i]);
    }
  }

  private get band(): Band {
    return { y: top, h: this.height - top - bottom };
  }
  /** Pixels; what lies outside of the axes is at their ends. */
  private x(amount: number): number {
    const [from, to] = this.range.x;
    return left + Math.min(1, (amount - from) / (to - from)) * (this.width - left - right);
  }
  private y(ns: number): number {
    return top + (1 - Math.max(0, Math.min(1, ns / this.range.y))) * this.band.h;
  }
  private keyAt = (x: number, y: number): number => Math.round(y / size) * 65536 + Math.round(x / size);

  /** The one under the pointer, or nearest to it; null: none is near. */
  at(x: number, y: number): Cell | null {
    let found: Cell | null = null,
      least = Infinity;
    for (let dy = -2; dy <= 2; ++dy)
      for (let dx = -2; dx <= 2; ++dx) {
        const points = this.cells.get(this.keyAt(x + dx * size, y + dy * size));
        if (points && dx * dx + dy * dy < least) [found, least] = [{ x: x + dx * size, y: y + dy * size, points }, dx * dx + dy * dy];
      }
    return found;
  }

  describe({ points }: Cell): string {
    const { series } = this,
      span = (values: number[], words: (value: number) => string): string => {
        const [least, most] = [Math.min, Math.max].map((of) => words(values.reduce((a, b) => of(a, b)))) as [string, string];
        return least === most ? least : `${least} to ${most}`;
      };
    return (
      `${plural(points.length, one(series))}: ${span(
        points.map((i) => series.durations[i]!),
        duration,
      )}, ` +
      `${series.amount} ${span(
        points.map((i) => series.amounts[i]!),
        (value) => amountWords(value, series.unit),
      )}; click: the longest ${points.length > 1 ? "of them" : "one"} in the timeline`
    );
  }
  longest({ points }: Cell): number {
    return points.reduce((best, i) => (this.series.durations[i]! > this.series.durations[best]! ? i : best), points[0]!);
  }

  draw(s: Surface, hovered: Cell | null): void {
    const { series, fit, range, band, width } = this,
      dim = themeColor("dim"),
      frame = themeColor("frame"),
      axis = band.y + band.h;
    for (const ns of ticks(0, range.y, 4)) {
      s.line([left, this.y(ns), width - right, this.y(ns)], frame, 1);
      s.text(duration(ns), left - 6, this.y(ns), dim, "right", 10);
    }
    for (const amount of ticksOf(series.unit, ...range.x, Math.max(2, Math.floor((width - left) / 90)))) {
      s.line([this.x(amount), axis, this.x(amount), axis + 4], dim, 1);
      s.text(amountWords(amount, series.unit), this.x(amount), axis + 12, dim, "center", 10);
    }
    s.line([left, axis, width - right, axis], dim, 1);
    s.text(series.amount, (left + width - right) / 2, axis + 26, themeColor("ink"), "center", 11);
    let most = 0;
    for (const points of this.cells.values()) most = Math.max(most, Math.log(points.length + 1));
    for (const points of this.cells.values()) {
      const [x, y] = [this.x(series.amounts[points[0]!]!), this.y(series.durations[points[0]!]!)].map((v) => Math.round(v / size) * size) as [number, number];
      s.rect(x - 1, y - 1, size, size, css(warmth(0.45 + 0.55 * (Math.log(points.length + 1) / most))));
    }
    if (!isNaN(fit.slope)) {
      // The part of the line that lies within the picture.
      const inside = (ns: number): number => Math.min(range.y, Math.max(0, ns)),
        at = (amount: number): number => {
          const ns = fit.intercept + fit.slope * amount;
          return fit.slope === 0 || ns === inside(ns) ? amount : (inside(ns) - fit.intercept) / fit.slope;
        },
        [a, b] = range.x.map(at) as [number, number],
        value = (amount: number): number => this.y(fit.intercept + fit.slope * amount);
      if (a < b) s.line([this.x(a), value(a), this.x(b), value(b)], themeColor("b"), 1.4);
    }
    if (this.isCut) markCut(s, left + 8, band, dim);
    if (hovered) s.rect(Math.round(hovered.x / size) * size - 4, Math.round(hovered.y / size) * size - 4, 9, 9, "none", themeColor("ink"));
  }

  /** What the points say, as the report says it, and what the picture leaves out. */
  words(): string {
    const { series, fit, range } = this,
      n = series.amounts.length,
      are = `${plural(n, one(series))} of ${series.name}`,
      outside = series.amounts.filter((amount, i) => amount > range.x[1] || series.durations[i]! > range.y).length,
      cut =
        outside > 0 ? `; ${plural(outside, "point")} beyond the axes ${outside === 1 ? "is" : "are"} drawn at ${outside === 1 ? "its end" : "their ends"}` : "";
    if (n < 10) return `${are}: too few to say how their durations depend on their ${series.amount}${cut}`;
    if (isNaN(fit.slope)) return `${are}: all have ${amountWords(series.amounts[0]!, series.unit)} ${series.amount}, so there is no line${cut}`;
    if (!(fit.rSquared >= 0.5) || fit.slope <= 0)
      return `${are}: their durations hardly depend on their ${series.amount} (r² ${isNaN(fit.rSquared) ? "0.00" : fit.rSquared.toFixed(2)})${cut}`;
    const rate = series.amount === "bytes" && series.unit === "bytes" ? `${quantity(1e9 / fit.slope, "bytes")} a second` : `${duration(fit.slope)} each`;
    return `${are}: their durations follow their ${series.amount} (r² ${fit.rSquared.toFixed(2)}): ${duration(Math.max(0, fit.intercept))} without any, and ${rate}, ± ${percent(fit.slopeError / fit.slope)}${cut}`;
  }
}
