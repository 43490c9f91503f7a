// Which part of the axis a picture shows, and where: columns of pixels, and the bands above each other.
import type { Span } from "../selection";
import { left, right, type Band } from "../timeline/axes";
import type { Aligned, Part } from "./aligned";

/** A part of the axis, and its pixels. */
export interface Column {
  x0: number;
  x1: number;
  part: Part;
}

const title = 20,
  laneHeight = 16,
  loneHeight = 10;

export class View {
  width = 0;
  zoom: Span;
  bands: Record<"segments" | "times" | "difference" | "sum" | "lone", Band> = {
    segments: { y: 0, h: 0 },
    times: { y: 0, h: 0 },
    difference: { y: 0, h: 0 },
    sum: { y: 0, h: 0 },
    lone: { y: 0, h: 0 },
  };

  constructor(readonly aligned: Aligned) {
    this.zoom = [0, aligned.header.places];
  }

  /** @param rows of numbers below */
  layOut(width: number, height: number, rows: number): void {
    this.width = Math.max(1, width - left - right);
    const segments = { y: 2, h: laneHeight },
      free = height - segments.y - laneHeight - 3 * title - loneHeight - 8 - 6 - 14 * rows,
      times = { y: segments.y + laneHeight + title, h: Math.round(free * 0.5) },
      difference = { y: times.y + times.h + title, h: Math.round(free * 0.25) },
      sum = { y: difference.y + difference.h + title, h: free - times.h - difference.h };
    this.bands = { segments, times, difference, sum, lone: { y: sum.y + sum.h + 8, h: loneHeight } };
  }

  placeAt(x: number): number {
    return this.zoom[0] + ((x - left) / this.width) * (this.zoom[1] - this.zoom[0]);
  }
  xOf(place: number): number {
    return left + ((place - this.zoom[0]) / (this.zoom[1] - this.zoom[0])) * this.width;
  }
  /** The same, within the picture. */
  clippedX(place: number): number {
    return Math.min(left + this.width, Math.max(left, this.xOf(place)));
  }

  /** What is shown: a pixel or more each. */
  columns(): Column[] {
    const { aligned, zoom } = this,
      first = aligned.pointAt(zoom[0]),
      end = aligned.pointAt(Math.ceil(zoom[1]) - 1) + 1,
      count = Math.min(end - first, Math.floor(this.width)),
      columns: Column[] = [];
    for (let c = 0; c < count; ++c) {
      const part = aligned.part(first + Math.floor(((end - first) * c) / count), first + Math.floor(((end - first) * (c + 1)) / count));
      columns.push({ x0: this.clippedX(part.from), x1: this.clippedX(part.to), part });
    }
    return columns;
  }
}
