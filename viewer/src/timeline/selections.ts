// Selections A and B in the three bands.
import { themeColor } from "../color";
import type { Data } from "../data";
import type { Selection } from "../selection";
import type { State } from "../state";
import type { Surface } from "../surface";
import { left, type Axes } from "./axes";

export function drawSelections(s: Surface, axes: Axes, data: Data, state: State): void {
  const end = left + axes.width;
  const clip = (v: number): number => Math.min(end, Math.max(left, v));
  const mark = (selection: Selection | null, name: string): void => {
    if (!selection || selection.rest || selection.phase !== state.phase) return;
    const whole = selection.from === 0 && selection.to >= data.header.phases[state.phase]!.iterations!;
    if ((whole || selection.to <= selection.from) && !selection.ranks) return;
    const to = selection.to > selection.from ? selection.to : data.header.phases[state.phase]!.iterations!;
    const x0 = clip(axes.xOf(selection.from)),
      x1 = clip(axes.xOf(to));
    if (x1 <= left || x0 >= end) return;
    const color = themeColor(name === "A" ? "a" : "b");
    const { graph, map, strip } = axes.bands;
    if (!whole) s.rect(x0, graph.y, Math.max(2, x1 - x0), graph.h, themeColor(name === "A" ? "a-veil" : "b-veil"), color);
    for (const band of [map, strip]) {
      const y0 = selection.ranks ? Math.min(band.y + band.h, Math.max(band.y, axes.yOf(selection.ranks[0], band))) : band.y;
      const y1 = selection.ranks ? Math.min(band.y + band.h, Math.max(band.y, axes.yOf(selection.ranks[1], band))) : band.y + band.h;
      if (y1 <= y0) continue;
      s.rect(x0, y0, Math.max(2, x1 - x0), y1 - y0, "none", "#000");
      s.rect(x0 - 1, y0 - 1, Math.max(2, x1 - x0) + 2, y1 - y0 + 2, "none", color);
    }
    s.rect(x0, graph.y, 16, 15, color);
    s.text(name, x0 + 8, graph.y + 8, "#fff", "center", 11);
  };
  mark(state.b, "B");
  mark(state.a, "A");
}
