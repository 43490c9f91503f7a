// The value map: a metric of every rank and iteration.
import { amount, css, pixel, themeColor } from "../color";
import { quantity } from "../format";
import type { MapHeader } from "../header";
import type { Ripmap } from "../ripmap";
import type { Surface } from "../surface";
import { left, ticks, type Axes, type Band } from "./axes";
import type { Images } from "./images";

/** Pixels by level of a map. */
export function mapColors(map: MapHeader): Uint32Array {
  const used = map.bounds.length - 1,
    colors = new Uint32Array(256);
  for (let l = 1; l < 256; ++l) colors[l] = pixel(amount(used < 2 ? 0.5 : (l - 1) / (used - 1)));
  return colors;
}

export function drawMap(s: Surface, axes: Axes, images: Images, content: number, title: string, ripmap: Ripmap, colors: Uint32Array): void {
  const band = axes.bands.map,
    w = axes.width;
  const [z0, z1, z2, z3] = axes.zoom;
  const iw = Math.max(1, Math.floor(w)),
    ih = Math.max(1, Math.floor(band.h));
  const image = images.draw("map", content, axes.zoom, iw, ih, (out, part) => ripmap.draw(out, iw, ih, z0, z1, z2, z3, colors, part));
  s.image(image, left, band.y, w, band.h);
  s.rect(left, band.y, w, band.h, "none", themeColor("frame"));
  rankTicks(s, axes, band);
  s.text(title, left, band.y - 8, themeColor("ink"), "left", 11.5);
}

/** Equal steps of colour, and the values that they stand for. */
export function drawScale(s: Surface, axes: Axes, map: MapHeader): void {
  const band = axes.bands.map,
    x = left + axes.width + 8,
    used = map.bounds.length - 1,
    steps = 40;
  for (let i = 0; i < steps; ++i) s.rect(x, band.y + (band.h * (steps - 1 - i)) / steps, 12, band.h / steps + 0.6, css(amount(i / (steps - 1))));
  const labels = Math.max(2, Math.min(5, Math.floor(band.h / 26)));
  for (let i = 0; i < labels; ++i) {
    const t = i / (labels - 1);
    const value = used < 2 ? map.bounds[0]! : map.bounds[Math.min(used, Math.round(t * used))]!;
    s.text(
      quantity(map.unit === "ns" ? value : Math.round(value), map.unit),
      x + 17,
      Math.min(band.y + band.h - 6, Math.max(band.y + 6, band.y + band.h * (1 - t))),
      themeColor("dim"),
    );
  }
}

export function rankTicks(s: Surface, axes: Axes, band: Band): void {
  const [, , z2, z3] = axes.zoom;
  s.text("rank", left - 42, band.y + band.h / 2, themeColor("dim"), "right");
  for (const v of ticks(z2, z3 - 1, Math.max(1, Math.min(5, Math.floor(band.h / 18)))))
    if (Number.isInteger(v)) s.text(String(v), left - 6, axes.yOf(v + 0.5, band), themeColor("dim"), "right");
}
