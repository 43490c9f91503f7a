// What is marked on the axis of two runs: segments, iterations without a partner, and numbers of iterations.
import { themeColor } from "../color";
import { grouped } from "../format";
import type { Surface } from "../surface";
import { left, ticks, type Band } from "../timeline/axes";
import { shortened } from "./curves";
import type { Segment } from "./header";
import type { Column, View } from "./view";

/** "slower", "faster", or why it is no change. */
export const segmentWord = (one: Segment): string => (one.change ? (one.total > 0 ? "slower" : "faster") : one.chance);

/** A number and a word each; changes are filled, all others are frames. */
export function drawSegments(s: Surface, view: View, selected: number): void {
  const band = view.bands.segments;
  view.aligned.header.segments.forEach((one, i) => {
    const x0 = view.clippedX(one.from),
      x1 = view.clippedX(one.to),
      width = Math.max(3, x1 - x0);
    if (one.to <= view.zoom[0] || one.from >= view.zoom[1]) return;
    const color = one.change ? themeColor(one.total > 0 ? "b" : "a") : "none",
      ink = one.change ? themeColor("paper") : themeColor("dim"),
      word = `${i + 1} ${segmentWord(one)}`;
    s.rect(x0, band.y, width, band.h, color, themeColor(i === selected ? "ink" : one.change ? "paper" : "frame"));
    if (i === selected) s.rect(x0 + 1, band.y + 1, width - 2, band.h - 2, "none", themeColor("ink"));
    if (width > 7 * word.length) s.text(word, (x0 + x1) / 2, band.y + band.h / 2 + 0.5, ink, "center");
    else if (width > 14) s.text(String(i + 1), (x0 + x1) / 2, band.y + band.h / 2 + 0.5, ink, "center");
  });
  s.text("segment", left - 6, band.y + band.h / 2, themeColor("dim"), "right");
}

export function drawSelected(s: Surface, view: View, { from, to }: Segment): void {
  const { times, difference, sum } = view.bands,
    x0 = view.clippedX(from),
    x1 = view.clippedX(to);
  if (to <= view.zoom[0] || from >= view.zoom[1]) return;
  for (const band of [times, difference, sum]) s.rect(x0, band.y, Math.max(2, x1 - x0), band.h, themeColor("band"), themeColor("dim"));
}

/** Slanted lines in a rectangle. */
function hatch(s: Surface, x0: number, x1: number, { y, h }: Band, isUpward: boolean, color: string): void {
  const step = 6;
  for (let at = Math.ceil((x0 - h) / step) * step; at < x1; at += step) {
    // From (at, bottom) to (at + h, top), cut to the rectangle.
    const begin = Math.max(x0, at),
      end = Math.min(x1, at + h);
    if (end <= begin) continue;
    const yOf = (x: number): number => (isUpward ? y + h - (x - at) : y + (x - at));
    s.line([begin, yOf(begin), end, yOf(end)], color, 1);
  }
}

/** A lane of hatching, one way for each run, and all over the curves where there is no pair at all. */
export function drawAlone(s: Surface, view: View, columns: Column[], [before, after]: [string, string]): void {
  const { lone, times, difference, sum } = view.bands;
  s.rect(left, lone.y, view.width, lone.h, themeColor("card"));
  s.text("no partner", left - 6, lone.y + lone.h / 2, themeColor("dim"), "right");
  if (view.aligned.isOneToOne) return;
  const legend = (y: number, isUpward: boolean, name: string): void => {
    const x = left + view.width + 8;
    hatch(s, x, x + 14, { y, h: lone.h }, isUpward, themeColor("ink"));
    s.text(shortened(name), x + 18, y + lone.h / 2, themeColor("dim"), "left", 10);
  };
  legend(lone.y - 9, true, before);
  legend(lone.y + 3, false, after);
  // Neighbours of one kind are one mark: a column is a pixel.
  const mark = (which: "aloneBefore" | "aloneAfter", isUpward: boolean, word: string): void => {
    for (let c = 0, end = 0; c < columns.length; c = end) {
      const isEmpty = columns[c]!.part.pairs === 0,
        isThere = columns[c]!.part[which] > 0;
      for (end = c + 1; end < columns.length && columns[end]!.part[which] > 0 === isThere && (columns[end]!.part.pairs === 0) === isEmpty;) ++end;
      if (!isThere) continue;
      const x0 = columns[c]!.x0,
        x1 = Math.max(x0 + 3, columns[end - 1]!.x1);
      hatch(s, x0, x1, lone, isUpward, themeColor("ink"));
      if (!isEmpty) continue;
      for (const band of [times, difference, sum]) {
        s.rect(x0, band.y, x1 - x0, band.h, themeColor("band"));
        hatch(s, x0, x1, band, isUpward, themeColor("dim"));
      }
      if (x1 - x0 > 7 * word.length) {
        s.rect((x0 + x1) / 2 - 3.4 * word.length, times.y + times.h / 2 - 9, 6.8 * word.length, 18, themeColor("paper"));
        s.text(word, (x0 + x1) / 2, times.y + times.h / 2, themeColor("ink"), "center");
      }
    }
  };
  mark("aloneBefore", true, `only ${shortened(before)}`);
  mark("aloneAfter", false, `only ${shortened(after)}`);
}

/** Numbers of the first run's iterations and, where they are others, of the other run's below. */
export function drawNumbers(s: Surface, view: View, [before, after]: [string, string]): void {
  const { aligned, zoom, bands } = view,
    bottom = bands.lone.y + bands.lone.h,
    dim = themeColor("dim"),
    first = aligned.beforeAt(zoom[0]) + 1,
    last = aligned.beforeAt(zoom[1]);
  for (const v of ticks(first, Math.max(first, last), Math.max(2, Math.floor(view.width / 110)))) {
    if (!Number.isInteger(v)) continue;
    const place = aligned.placeOf(v - 1),
      x = view.xOf(place + 0.5);
    if (x < left || x > left + view.width) continue;
    s.line([x, bottom, x, bottom + 4], themeColor("frame"), 1);
    s.text(grouped(v), x, bottom + 12, dim, "center");
    if (!aligned.isOneToOne) s.text(grouped(aligned.afterAt(place) + 1), x, bottom + 26, dim, "center");
  }
  s.text(aligned.isOneToOne ? "iteration" : shortened(before), left - 6, bottom + 12, dim, "right", 10);
  if (!aligned.isOneToOne) s.text(shortened(after), left - 6, bottom + 26, dim, "right", 10);
}
