// A lane for each cause, with marks where its iterations are.
import { themeColor } from "../color";
import type { Data } from "../data";
import type { Span } from "../selection";
import type { Surface } from "../surface";

export const laneHeight = 12;

/** @param places of a cause: pixels from, to */
export function drawLanes(s: Surface, data: Data, chosen: number, y: number, left: number, width: number, places: (cause: number) => Span[]): void {
  data.header.causes.list.forEach((_, cause) => {
    const top = y + cause * laneHeight,
      color = themeColor(cause === chosen ? "a" : "max");
    s.rect(left, top + 1, width, laneHeight - 3, themeColor("band"));
    for (const [from, to] of places(cause)) {
      const x0 = Math.max(left, from),
        x1 = Math.min(left + width, Math.max(to, from + 1.5));
      if (x1 > x0) s.rect(x0, top + 1, x1 - x0, laneHeight - 3, color);
    }
    s.text(`cause ${cause + 1}`, left - 6, top + laneHeight / 2, cause === chosen ? themeColor("a") : themeColor("dim"), "right", 10);
  });
}
