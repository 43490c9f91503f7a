// A part of a larger picture: a surface that lies somewhere on another one.
import type { Surface } from "./surface";

export class Shifted implements Surface {
  constructor(
    private onto: Surface,
    private dx: number,
    private dy: number,
  ) {}
  private points(points: ArrayLike<number>): number[] {
    return Array.from(points, (v, i) => v + (i % 2 === 0 ? this.dx : this.dy));
  }
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string): void {
    this.onto.rect(x + this.dx, y + this.dy, w, h, fill, stroke);
  }
  line(points: Float64Array | number[], stroke: string, width?: number): void {
    this.onto.line(this.points(points), stroke, width);
  }
  area(points: number[], fill: string): void {
    this.onto.area(this.points(points), fill);
  }
  text(text: string, x: number, y: number, fill: string, align?: "left" | "center" | "right", size?: number): void {
    this.onto.text(text, x + this.dx, y + this.dy, fill, align, size);
  }
  image(pixels: ImageData, x: number, y: number, w: number, h: number): void {
    this.onto.image(pixels, x + this.dx, y + this.dy, w, h);
  }
}
