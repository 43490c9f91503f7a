// Curves of derived metrics, over the axis of the timeline. A pixel has the mean, and paler the least and the largest, of its intervals.
import { themeColor } from "../color";
import { duration, quantity } from "../format";
import type { Surface } from "../surface";
import { left, ticksOf, type Band } from "../timeline/axes";
import { Evaluator } from "./evaluate";
import { parsed, seriesIn, unitWords, type Needed, type Unit } from "./expression";
import type { TrackSource } from "./tracks";
import type { EventTimeline } from "./view";

export const mostCurves = 6;
const perPixelMost = 16, // intervals
  pixelsAsked = 5; // of an interval
const colors = ["a", "b", "min", "max"];

/** The longest of 1, 2, 5, 10 ... ns that is not longer. */
export function roundInterval(ns: number): number {
  if (!(ns > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(ns) + 1e-12);
  return [5, 2, 1].map((m) => m * power).find((v) => v <= ns * (1 + 1e-12))!;
}

/** A value with its unit. */
export function valueWords(value: number, unit: Unit): string {
  const { seconds, bytes } = unit,
    size = Math.abs(value);
  if (seconds === 1 && bytes === 0) return duration(value * 1e9);
  if (seconds === 0 && bytes === 1) return quantity(value, "bytes");
  if (seconds === -1 && bytes === 1) return quantity(value, "bytes") + "/s";
  const number = size !== 0 && (size < 0.01 || size >= 1e15) ? value.toPrecision(3) : quantity(value, "");
  return number + (seconds === 0 && bytes === 0 ? "" : seconds === -1 && bytes === 0 ? "/s" : " " + unitWords(unit));
}

/** Of each pixel; NaN where there is no value. */
interface Pixels {
  least: Float64Array;
  most: Float64Array;
  mean: Float64Array;
}

export class Curve {
  readonly unit: Unit;
  readonly needed: Needed[];
  private readonly evaluator: Evaluator;
  private every = 0;
  private first = 0; // intervals that are known
  private values: Float64Array = new Float64Array(0);

  /** @throws ExpressionError */
  constructor(
    readonly source: string,
    tracks: TrackSource,
  ) {
    const { of, unit } = parsed(source, tracks.names);
    this.unit = unit;
    this.needed = seriesIn(of);
    this.evaluator = new Evaluator(tracks, of);
  }

  /** The values of intervals from `first` up to `end`. What is known from before is not made again. */
  between(first: number, end: number, every: number): Float64Array {
    const had = this.first + this.values.length;
    if (every !== this.every || first >= had || end <= this.first) this.values = this.evaluator.values(first, end, every);
    else if (first < this.first || end > had) {
      const out = new Float64Array(end - first),
        from = Math.max(first, this.first),
        to = Math.min(end, had);
      if (first < from) out.set(this.evaluator.values(first, from, every));
      out.set(this.values.subarray(from - this.first, to - this.first), from - first);
      if (to < end) out.set(this.evaluator.values(to, end, every), to - first);
      this.values = out;
    } else return this.values.subarray(first - this.first, end - this.first);
    [this.every, this.first] = [every, first];
    return this.values;
  }

  /** Tracks say something else now. */
  forget(): void {
    [this.values, this.first, this.every] = [new Float64Array(0), 0, 0];
  }

  /** Of each pixel of a view. */
  pixels(t0: number, perPixel: number, width: number, every: number): Pixels {
    const first = Math.max(0, Math.floor(t0 / every)),
      values = this.between(first, Math.ceil((t0 + width * perPixel) / every) + 1, every),
      out: Pixels = { least: new Float64Array(width).fill(NaN), most: new Float64Array(width).fill(NaN), mean: new Float64Array(width).fill(NaN) };
    for (let x = 0; x < width; ++x) {
      const from = (t0 + x * perPixel) / every;
      // Those that begin in it, or the one that it lies in.
      let a = Math.ceil(from - 1e-9) - first,
        b = Math.ceil(from + perPixel / every - 1e-9) - first;
      if (b <= a) [a, b] = [Math.floor(from) - first, Math.floor(from) - first + 1];
      let least = Infinity,
        most = -Infinity,
        sum = 0,
        count = 0;
      for (let i = Math.max(0, a); i < b; ++i) {
        const value = values[i]!;
        if (Number.isNaN(value)) continue;
        if (value < least) least = value;
        if (value > most) most = value;
        sum += value;
        ++count;
      }
      if (count > 0) [out.least[x], out.most[x], out.mean[x]] = [least, most, sum / count];
    }
    return out;
  }

  /** In the interval that a time lies in. */
  at(ns: number): number {
    const i = Math.floor(ns / this.every) - this.first;
    return this.every > 0 ? (this.values[i] ?? NaN) : NaN;
  }
}

/** The length of the intervals of a view. @param wanted 0: by the zoom; @param isAsked the server sums each of them up: they are few */
export function intervalOf(perPixel: number, wanted: number, isAsked: boolean): number {
  if (isAsked) return Math.max(wanted, roundInterval(perPixel * pixelsAsked));
  return Math.max(wanted > 0 ? wanted : roundInterval(perPixel / 2), roundInterval(perPixel / perPixelMost));
}

function rangeOf({ least, most }: Pixels): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (let x = 0; x < least.length; ++x) {
    if (least[x]! < low) low = least[x]!;
    if (most[x]! > high) high = most[x]!;
  }
  if (low > high) return null;
  if (low > 0 && low < 0.7 * high) low = 0; // an axis from 0, unless little would be seen
  if (high < 0 && high > 0.7 * low) high = 0;
  return low === high ? [Math.min(0, low), low === 0 ? 1 : Math.max(0, high)] : [low, high];
}

/** @param isOver over the rows: paper around the line, the axis at the right; @param missing why there are no values yet */
export function drawCurve(t: EventTimeline, s: Surface, curve: Curve, number: number, band: Band, every: number, isOver: boolean, missing: string): void {
  const [t0, t1] = t.store.state.moment,
    width = Math.floor(t.width),
    pixels = curve.pixels(t0, (t1 - t0) / width, width, every),
    range = rangeOf(pixels),
    color = themeColor(isOver && number === 0 ? "ink" : colors[number % colors.length]!), // states are blue, too
    dim = themeColor("dim");
  if (!isOver) {
    s.rect(left, band.y, width, band.h, "none", themeColor("frame"));
    s.text(curve.source, left, band.y - 8, themeColor("ink"), "left", 11.5);
    s.text(`per ${duration(every)}`, left + width, band.y - 8, dim, "right", 10);
  }
  if (!range) {
    if (!isOver) s.text(missing || "no value here", left + width / 2, band.y + band.h / 2, dim, "center");
    return;
  }
  const [low, top] = range,
    high = top + 0.02 * (top - low),
    y = (v: number): number => band.y + band.h - 1 - (band.h - 2) * ((v - low) / (high - low));
  if (!isOver)
    for (const v of ticksOf(curve.unit.bytes === 1 ? "bytes" : "", low, high, 3)) {
      if (y(v) < band.y - 1) continue;
      s.line([left, y(v), left + width, y(v)], themeColor("frame"), 1);
      s.text(valueWords(v, curve.unit), left - 6, y(v), dim, "right", 10);
    }
  for (let x = 0, end = 0; x < width; x = end) {
    const isThere = !Number.isNaN(pixels.mean[x]!);
    for (end = x + 1; end < width && !Number.isNaN(pixels.mean[end]!) === isThere;) ++end;
    if (!isThere) continue;
    const line: number[] = [],
      upper: number[] = [],
      lower: number[] = [];
    for (let i = x; i < end; ++i) {
      line.push(left + i, y(pixels.mean[i]!));
      upper.push(left + i, y(pixels.most[i]!));
      lower.push(left + i, y(pixels.least[i]!));
    }
    for (const list of [line, upper, lower]) list.push(left + end, list.at(-1)!);
    if (isOver) s.line(line, themeColor("paper"), 3.6);
    const back: number[] = [];
    for (let i = lower.length - 2; i >= 0; i -= 2) back.push(lower[i]!, lower[i + 1]!);
    s.area([...upper, ...back], themeColor(colors[number % colors.length] === "b" ? "b-band" : "a-band"));
    s.line(line, color, isOver ? 1.6 : 1.2);
  }
  if (isOver) {
    const x = left + width + 6,
      at = band.y + 34 + 30 * number;
    s.line([x, at, x + 12, at], color, 1.6);
    s.text(curve.source.length > 13 ? curve.source.slice(0, 12) + "…" : curve.source, x + 16, at, dim, "left", 10);
    s.text(`${valueWords(low, curve.unit)} – ${valueWords(top, curve.unit)}`, x, at + 13, dim, "left", 10);
  }
}
