// Curves of two aligned runs: their times as an area and a line, the difference, and its sum.
import { themeColor } from "../color";
import { quantity, signed } from "../format";
import type { Surface } from "../surface";
import { left, ticks, type Band } from "../timeline/axes";
import { markCut, topOf } from "../timeline/scale";
import type { Aligned, Part } from "./aligned";
import type { Column, View } from "./view";

/** The end of a name that many names begin like. */
export const shortened = (name: string): string => (name.length > 10 ? "…" + name.slice(-9) : name);

/** Of the whole axis, so that scales stay when the view moves. */
export interface Scales {
  time: number; // from 0
  difference: [number, number];
  sum: [number, number];
}

export function scalesOf(aligned: Aligned): Scales {
  const times: number[] = [],
    differences: number[] = [],
    difference: [number, number] = [0, 0],
    sum: [number, number] = [0, 0];
  for (let p = 0; p < aligned.points; ++p) {
    const part = aligned.part(p, p + 1);
    sum[0] = Math.min(sum[0], part.sum);
    sum[1] = Math.max(sum[1], part.sum);
    if (part.pairs === 0) continue;
    times.push(part.most[0], part.most[1]);
    differences.push(Math.max(Math.abs(part.most[2]), Math.abs(part.least[2])));
    difference[0] = Math.min(difference[0], part.least[2]);
    difference[1] = Math.max(difference[1], part.most[2]);
  }
  const limit = topOf(differences);
  const wide = ([low, high]: [number, number]): [number, number] => (low === high ? [low, low + 1] : [low, high]);
  return { time: (topOf(times) || 1) * 1.04, difference: wide([Math.max(-limit, difference[0]), Math.min(limit, difference[1])]), sum: wide(sum) };
}

/** Columns with pairs that follow each other: a gap is no line. */
function pieces(columns: Column[]): Column[][] {
  const list: Column[][] = [];
  let open = false;
  for (const column of columns) {
    if (column.part.pairs === 0) open = false;
    else if (open) list.at(-1)!.push(column);
    else {
      list.push([column]);
      open = true;
    }
  }
  return list;
}

/** Steps, or a line between columns that are too narrow for them. */
function path(columns: Column[], y: (column: Column) => number): number[] {
  const points: number[] = [];
  for (const column of columns) {
    points.push(column.x0, y(column));
    if (column.x1 - column.x0 > 2) points.push(column.x1, y(column));
  }
  const last = columns.at(-1)!;
  points.push(Math.max(last.x1, last.x0 + 1), y(last));
  return points;
}

/** Between two paths of the same columns. */
function between(upper: number[], lower: number[]): number[] {
  const area = [...upper];
  for (let i = lower.length - 2; i >= 0; i -= 2) area.push(lower[i]!, lower[i + 1]!);
  return area;
}

function drawScale(s: Surface, view: View, band: Band, low: number, high: number, count: number, words: (v: number) => string): (v: number) => number {
  const y = (v: number): number => band.y + band.h * (1 - Math.min(1, Math.max(0, (v - low) / (high - low))));
  for (const v of ticks(low, high, count)) {
    s.line([left, y(v), left + view.width, y(v)], themeColor("frame"), 1);
    s.text(words(v), left - 6, y(v), themeColor("dim"), "right");
  }
  return y;
}

const heading = (s: Surface, band: Band, text: string): void => s.text(text, left, band.y - 9, themeColor("ink"), "left", 11.5);

/** Both runs on one scale: the first one is the area, the other one the line. */
export function drawTimes(s: Surface, view: View, columns: Column[], scales: Scales, [before, after]: [string, string]): void {
  const band = view.bands.times,
    [blue, orange] = [themeColor("a"), themeColor("b")],
    x = left + view.width + 8;
  heading(s, band, `Time of an iteration, mean over ranks: area ${before}, line ${after}`);
  const y = drawScale(s, view, band, 0, scales.time, 4, (v) => quantity(v, "ns"));
  for (const piece of pieces(columns)) {
    const mean = (which: "before" | "after"): number[] => path(piece, ({ part }) => y(part[which] / part.pairs)),
      floor = path(piece, () => y(0)),
      isMany = piece.some(({ part }) => part.pairs > 1),
      lines = [mean("before"), mean("after")] as const;
    s.area(between(lines[0], floor), themeColor("bar"));
    if (isMany)
      for (const which of [0, 1] as const) {
        const edge = (of: "most" | "least"): number[] => path(piece, ({ part }) => y(part[of][which]));
        s.area(between(edge("most"), edge("least")), themeColor(which === 0 ? "a-band" : "b-band"));
      }
    s.line(lines[0], blue, 1);
    s.line(lines[1], orange, 1.8);
  }
  let isCut = false;
  for (const { x0, x1, part } of columns)
    if (Math.max(part.most[0], part.most[1]) > scales.time) {
      markCut(s, (x0 + x1) / 2, band, themeColor("ink"));
      isCut = true;
    }
  s.rect(x, band.y + 3, 14, 10, themeColor("bar"));
  s.line([x, band.y + 3, x + 14, band.y + 3], blue, 1);
  s.line([x, band.y + 24, x + 14, band.y + 24], orange, 1.8);
  s.text(shortened(before), x + 18, band.y + 8, themeColor("dim"));
  s.text(shortened(after), x + 18, band.y + 24, themeColor("dim"));
  if (isCut) s.text("▲ cut", x, band.y + 42, themeColor("dim"));
}

export function drawDifference(s: Surface, view: View, columns: Column[], scales: Scales, after: string): void {
  const band = view.bands.difference,
    x = left + view.width + 8;
  heading(s, band, `Difference: above 0, ${after} takes longer`);
  const y = drawScale(s, view, band, ...scales.difference, 3, (v) => signed(v, "ns")),
    zero = y(0);
  for (const piece of pieces(columns)) {
    const floor = path(piece, () => zero),
      above = (value: (part: Part) => number, color: string): void =>
        s.area(
          between(
            path(piece, ({ part }) => Math.min(zero, y(value(part)))),
            floor,
          ),
          themeColor(color),
        ),
      below = (value: (part: Part) => number, color: string): void =>
        s.area(
          between(
            path(piece, ({ part }) => Math.max(zero, y(value(part)))),
            floor,
          ),
          themeColor(color),
        ),
      mean = (part: Part): number => (part.after - part.before) / part.pairs;
    if (piece.some(({ part }) => part.pairs > 1)) {
      above((part) => part.most[2], "b-band");
      below((part) => part.least[2], "a-band");
    }
    above(mean, "b");
    below(mean, "a");
  }
  s.line([left, zero, left + view.width, zero], themeColor("dim"), 1);
  const [low, high] = scales.difference;
  for (const { x0, x1, part } of columns) {
    if (part.most[2] > high) markCut(s, (x0 + x1) / 2, band, themeColor("ink"));
    if (part.least[2] < low) markCut(s, (x0 + x1) / 2, band, themeColor("ink"), true);
  }
  s.text("↑ longer", x, band.y + 6, themeColor("dim"));
  s.text("↓ shorter", x, band.y + band.h - 6, themeColor("dim"));
}

/** How far both runs have come apart. */
export function drawSum(s: Surface, view: View, columns: Column[], scales: Scales, after: string): void {
  const band = view.bands.sum,
    x = left + view.width + 8,
    last = view.aligned.part(view.aligned.points - 1, view.aligned.points);
  heading(s, band, `Sum of the differences: how much longer ${after} has taken up to here`);
  const y = drawScale(s, view, band, ...scales.sum, 3, (v) => signed(v, "ns"));
  if (columns.length > 0)
    s.line(
      path(columns, ({ part }) => y(part.sum)),
      themeColor("ink"),
      1.4,
    );
  s.line([left, y(0), left + view.width, y(0)], themeColor("dim"), 1);
  s.text(signed(last.sum, "ns") || "0", x, Math.min(band.y + band.h - 22, Math.max(band.y + 5, y(last.sum))), themeColor("ink"));
  s.text("in all", x, Math.min(band.y + band.h - 22, Math.max(band.y + 5, y(last.sum))) + 13, themeColor("dim"));
}
