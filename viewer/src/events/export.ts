// The timeline as a picture for a file: what is seen, with what the colours mean.
import { themeColor } from "../color";
import { $ } from "../dom";
import { Shifted } from "../shifted";
import { pngOf, svgOf, type Surface } from "../surface";
import { left } from "../timeline/axes";
import { plainText } from "./annotations";
import type { EventTimeline } from "./view";
import { moment } from "./words";

const line = 17;

/** The legend of the page: colours and words. */
function legendItems(): { color: string; text: string }[] {
  return [...$("events-legend").querySelectorAll("li")].map((item) => ({
    color: item.querySelector<HTMLElement>(".swatch")?.style.background ?? "",
    text: item.textContent!.trim(),
  }));
}

/** @return pixels that it needs; draws nothing without a surface */
function drawLegend(s: Surface | null, width: number, y0: number): number {
  let [x, y] = [left, y0 + line / 2];
  for (const { color, text } of legendItems()) {
    const w = text.length * 6.3 + (color ? 15 : 0) + 14;
    if (x > left && x + w > width) [x, y] = [left, y + line];
    if (color) s?.rect(x, y - 5, 10, 10, color);
    s?.text(text, x + (color ? 15 : 0), y, themeColor("dim"));
    x += w;
  }
  return y + line / 2 - y0;
}

export function exported(t: EventTimeline): { svg(): string; png(): Promise<Blob> } {
  const { picture, store, data } = t,
    { width } = picture,
    height = 22 + picture.height + 6 + drawLegend(null, width, 0) + 6,
    [t0, t1] = store.state.moment;
  const draw = (s: Surface): void => {
    const command = plainText(data.header.job.command);
    s.text(`${command.length > 80 ? command.slice(0, 79) + "…" : command}, ${moment(t0)} to ${moment(t1)}`, left, 12, themeColor("ink"), "left", 12);
    picture.drawOn(new Shifted(s, 0, 22));
    drawLegend(s, width, 22 + picture.height + 6);
  };
  return { svg: () => svgOf(width, height, draw), png: () => pngOf(width, height, draw) };
}
