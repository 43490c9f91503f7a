// Moving and zooming a picture along one axis, with wheel, drag and keys.
import type { Span } from "./selection";

/** What a picture shows of a line, and its pixels. */
export interface ShownAxis {
  shown(): Span;
  whole(): Span;
  /** Shows a range, or one near it if that leads out of the whole. */
  show(range: Span): void;
  width(): number; // pixels
  at(x: number): number; // what is under a pixel
}

/** The range of the same width, if that is possible, that lies within the whole. */
export function clampedSpan([from, to]: Span, [first, end]: Span, least: number): Span {
  const width = Math.min(end - first, Math.max(Math.min(least, end - first), to - from)),
    start = Math.min(end - width, Math.max(first, from));
  return [start, start + width];
}

export class Mover {
  constructor(private axis: ShownAxis) {}

  pan(by: number, [from, to] = this.axis.shown()): void {
    this.axis.show([from + by, to + by]);
  }
  zoom(factor: number, around = (this.axis.shown()[0] + this.axis.shown()[1]) / 2): void {
    const [from, to] = this.axis.shown();
    this.axis.show([around - (around - from) * factor, around + (to - around) * factor]);
  }
  all(): void {
    this.axis.show(this.axis.whole());
  }
  perPixel(): number {
    const [from, to] = this.axis.shown();
    return (to - from) / Math.max(1, this.axis.width());
  }

  /** Ctrl and wheel zoom, a wheel that goes sideways moves; else the page scrolls. */
  readonly wheel = (e: WheelEvent): void => {
    const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (!e.ctrlKey && !e.metaKey && !sideways) return;
    e.preventDefault();
    if (sideways && !e.ctrlKey) this.pan(e.deltaX * this.perPixel());
    else this.zoom(Math.exp(e.deltaY * 0.002), this.axis.at(e.offsetX));
  };

  /** What keys do, by their names. */
  actions(): Record<string, () => void> {
    const [from, to] = this.axis.shown(),
      step = (to - from) / 10;
    return {
      ArrowLeft: () => this.pan(-step),
      ArrowRight: () => this.pan(step),
      "+": () => this.zoom(0.7),
      "=": () => this.zoom(0.7),
      "-": () => this.zoom(1 / 0.7),
      "0": () => this.all(),
    };
  }
}
