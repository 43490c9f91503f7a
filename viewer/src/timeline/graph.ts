// The iteration graph: largest, median and least value over ranks.
import { themeColor } from "../color";
import type { Data, Spread } from "../data";
import { quantity } from "../format";
import type { MapHeader } from "../header";
import type { Surface } from "../surface";
import { left, ticks, type Axes } from "./axes";
import { markCut, topOf } from "./scale";

export class Graph {
  private scaleOf: Spread | null = null;
  private top = 1;

  constructor(
    private data: Data,
    private axes: Axes,
  ) {}

  draw(s: Surface, map: MapHeader, spread: Spread): void {
    const { axes } = this,
      band = axes.bands.graph,
      w = axes.width;
    const [z0, z1] = axes.zoom;
    const from = Math.max(0, Math.floor(z0)),
      to = Math.min(spread.maximum.length, Math.ceil(z1));
    // The scale is that of the whole run, so that it stays when the view moves. Extremes are cut and marked.
    if (this.scaleOf !== spread) {
      this.scaleOf = spread;
      this.top = topOf(spread.maximum) || 1;
    }
    const top = this.top * 1.04;
    const y = (v: number): number => band.y + band.h * (1 - Math.min(1, v / top));
    const columns = Math.min(Math.max(1, to - from), Math.floor(w));
    const dense = to - from > w / 2; // no room for steps
    type Piece = { upper: number[]; middle: number[]; lower: number[] };
    const pieces: Piece[] = [],
      cut: number[] = []; // there are no values between pieces
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
        x0 = Math.max(left, axes.xOf(a)),
        x1 = Math.min(left + w, axes.xOf(Math.max(b, a + 1)));
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
      s.line([left, y(v), left + w, y(v)], themeColor("frame"), 1);
      s.text(quantity(v, map.unit), left - 6, y(v), themeColor("dim"), "right");
    }
    const [red, blue, green] = [themeColor("max"), themeColor("median"), themeColor("min")];
    for (const { upper, middle, lower } of pieces) {
      const back: number[] = [];
      for (let i = lower.length - 2; i >= 0; i -= 2) back.push(lower[i]!, lower[i + 1]!);
      s.area([...upper, ...back], themeColor("band"));
      // Lines of width 1 are several times as fast as wider ones.
      s.line(lower, green, dense ? 1 : 1.1);
      s.line(upper, red, dense ? 1 : 1.1);
      s.line(middle, blue, dense ? 1 : 1.3);
    }
    for (const x of cut) markCut(s, x, band, red);
    s.text(
      map.label + " per iteration, over ranks" + (map.exact ? "" : " (estimated from clusters)") + (map.told ? "" : "; gaps: not known"),
      left,
      band.y - 8,
      themeColor("ink"),
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
      s.text(name, x + 21, band.y + 8 + i * 16, themeColor("dim"));
    });
    if (cut.length > 0) s.text("▲ cut", x, band.y + 60, themeColor("dim"));
  }
}
