// Two runs over one axis of aligned iterations: segments, times, difference, its sum. It moves, zooms and is read like the iteration graph.
import { themeColor } from "../color";
import { clampedSpan, Mover } from "../moving";
import { CanvasSurface, Picture, type Surface } from "../surface";
import { left } from "../timeline/axes";
import type { Aligned } from "./aligned";
import { drawDifference, drawSum, drawTimes, scalesOf, type Scales } from "./curves";
import { drawAlone, drawNumbers, drawSegments, drawSelected } from "./marks";
import { View } from "./view";

const least = 8; // places that are shown

export class OverTimePicture {
  readonly picture: Picture;
  readonly mover: Mover;
  view: View | null = null;
  names: [string, string] = ["", ""];
  /** The point that is read; null: none. */
  point: number | null = null;
  selected = -1; // segment
  /** @param byKeys that somebody who does not see the picture may have moved it */
  onRead: (point: number | null, byKeys: boolean) => void = () => {};
  onSelect: (segment: number) => void = () => {};
  private scales: Scales | null = null;

  constructor(host: HTMLElement) {
    this.picture = new Picture(host, "over-time", (s, width, height) => this.draw(s, width, height));
    this.mover = new Mover({
      shown: () => this.view?.zoom ?? [0, 1],
      whole: () => [0, this.view?.aligned.header.places ?? 1],
      show: (range) => {
        if (!this.view) return;
        this.view.zoom = clampedSpan(range, [0, this.view.aligned.header.places], least);
        this.picture.redraw();
      },
      width: () => this.view?.width ?? 1,
      at: (x) => this.view?.placeAt(x) ?? 0,
    });
    this.picture.canvas.setAttribute(
      "aria-label",
      "Both runs over aligned iterations. Arrow keys move, plus and minus zoom, Shift and arrows read one iteration after the other, up and down choose a segment.",
    );
    this.listen(this.picture.canvas);
  }

  show(aligned: Aligned, names: [string, string]): void {
    this.view = new View(aligned);
    this.names = names;
    this.scales = scalesOf(aligned);
    this.selected = -1;
    this.read(null, false);
  }

  select(segment: number): void {
    this.selected = segment;
    this.picture.redraw();
  }

  private read(point: number | null, byKeys: boolean): void {
    this.point = point;
    this.onRead(point, byKeys);
    this.picture.redraw();
  }

  private pointAt(x: number): number | null {
    const { view } = this;
    return view && x >= left && x < left + view.width ? view.aligned.pointAt(view.placeAt(x)) : null;
  }

  private listen(canvas: HTMLCanvasElement): void {
    let drag: { x: number; zoom: [number, number]; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (e) => {
      if (!this.view || this.pointAt(e.offsetX) === null) return;
      canvas.setPointerCapture(e.pointerId);
      drag = { x: e.offsetX, zoom: this.view.zoom, moved: false };
    });
    canvas.addEventListener("pointermove", (e) => {
      if (drag && Math.abs(e.offsetX - drag.x) > 3) drag.moved = true;
      if (drag?.moved) this.mover.pan((drag.x - e.offsetX) * this.mover.perPixel(), drag.zoom);
      else this.read(this.pointAt(e.offsetX), false);
    });
    canvas.addEventListener("pointerup", (e) => {
      const ended = drag;
      drag = null;
      if (!ended || ended.moved || !this.view) return;
      const segment = this.view.aligned.segmentAt(this.view.placeAt(e.offsetX));
      if (segment >= 0) this.onSelect(segment);
    });
    canvas.addEventListener("pointerleave", () => this.read(null, false));
    canvas.addEventListener("wheel", this.mover.wheel, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const { view } = this;
      if (!view || e.ctrlKey || e.metaKey || e.altKey) return;
      const segments = view.aligned.header.segments.length,
        other = (by: number): void => {
          const next = this.selected < 0 ? (by > 0 ? 0 : segments - 1) : this.selected + by;
          if (next >= 0 && next < segments) this.onSelect(next);
        },
        actions: Record<string, () => void> = e.shiftKey
          ? { ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), "+": () => this.mover.zoom(0.7) }
          : {
              ...this.mover.actions(),
              ArrowUp: () => other(-1),
              ArrowDown: () => other(1),
              Enter: () => {
                const segment = this.point === null ? -1 : view.aligned.segmentAt(view.aligned.part(this.point, this.point + 1).from);
                if (segment >= 0) this.onSelect(segment);
              },
              Escape: () => this.onSelect(-1),
            };
      const action = actions[e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
  }

  /** Reads the next point, and moves the view where that is outside. */
  private step(by: number): void {
    const { aligned, zoom } = this.view!,
      middle = aligned.pointAt((zoom[0] + zoom[1]) / 2),
      point = Math.min(aligned.points - 1, Math.max(0, this.point === null ? middle : this.point + by)),
      { from, to } = aligned.part(point, point + 1);
    if (from < zoom[0]) this.mover.pan(from - zoom[0]);
    else if (to > zoom[1]) this.mover.pan(to - zoom[1]);
    this.read(point, true);
  }

  private draw(s: Surface, width: number, height: number): void {
    const { view, scales, names, selected } = this;
    if (!view || !scales) return;
    view.layOut(width, height, view.aligned.isOneToOne ? 1 : 2);
    const columns = view.columns();
    drawTimes(s, view, columns, scales, names);
    drawDifference(s, view, columns, scales, names[1]);
    drawSum(s, view, columns, scales, names[1]);
    drawAlone(s, view, columns, names);
    drawNumbers(s, view, names);
    drawSegments(s, view, selected);
    if (selected >= 0) drawSelected(s, view, view.aligned.header.segments[selected]!);
    if (this.point === null || !(s instanceof CanvasSurface)) return;
    const { from, to } = view.aligned.part(this.point, this.point + 1),
      x = view.xOf((from + to) / 2);
    if (x >= left && x <= left + view.width) s.line([x, view.bands.times.y, x, view.bands.lone.y + view.bands.lone.h], themeColor("ink"), 0.7);
  }
}
