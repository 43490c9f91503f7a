// Selections A and B in the three bands.
import { themeColor } from "../color";
import type { Data } from "../data";
import { iterationSpans, rankSpans, type Selection, type Span } from "../selection";
import type { State } from "../state";
import type { Surface } from "../surface";
import { left, type Axes } from "./axes";

export function drawSelections(s: Surface, axes: Axes, data: Data, state: State): void {
  const end = left + axes.width;
  const clip = (v: number): number => Math.min(end, Math.max(left, v));
  const mark = (selection: Selection | null, name: string): void => {
    if (!selection || selection.rest || selection.phase !== state.phase) return;
    const whole = !selection.iterations && selection.from === 0 && selection.to >= data.header.phases[state.phase]!.iterations!;
    if ((whole || selection.to <= selection.from) && !selection.ranks) return;
    const n = data.header.phases[state.phase]!.iterations!,
      spans = selection.to > selection.from ? iterationSpans(selection) : [[0, n] as Span],
      ranks = rankSpans(selection) ?? [[0, data.header.job.ranks] as Span];
    const color = themeColor(name === "A" ? "a" : "b"),
      { graph, map, strip } = axes.bands;
    // Iterations that are too close to be seen apart are drawn as one.
    const places: Span[] = [];
    for (const [from, to] of spans) {
      const x0 = clip(axes.xOf(from)),
        x1 = clip(axes.xOf(to));
      if (x1 <= left || x0 >= end) continue;
      if (places.length > 0 && x0 - places.at(-1)![1] < 2) places.at(-1)![1] = x1;
      else places.push([x0, x1]);
    }
    if (places.length === 0) return;
    for (const [x0, x1] of places) {
      if (!whole) s.rect(x0, graph.y, Math.max(2, x1 - x0), graph.h, themeColor(name === "A" ? "a-veil" : "b-veil"), color);
      for (const band of [map, strip])
        for (const [first, last] of ranks) {
          const y0 = Math.min(band.y + band.h, Math.max(band.y, axes.yOf(first, band))),
            y1 = Math.min(band.y + band.h, Math.max(band.y, axes.yOf(last, band)));
          if (y1 <= y0) continue;
          s.rect(x0, y0, Math.max(2, x1 - x0), y1 - y0, "none", "#000");
          s.rect(x0 - 1, y0 - 1, Math.max(2, x1 - x0) + 2, y1 - y0 + 2, "none", color);
        }
    }
    const x0 = places[0]![0];
    s.rect(x0, graph.y, 16, 15, color);
    s.text(name, x0 + 8, graph.y + 8, "#fff", "center", 11);
  };
  mark(state.b, "B");
  mark(state.a, "A");
}
