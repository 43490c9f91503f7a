// What the pictures are drawn on: a canvas for the screen, or SVG for a file. The same calls make both.

export interface Surface {
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string): void;
  line(points: Float64Array | number[], stroke: string, width?: number): void;
  area(points: number[], fill: string): void;
  text(text: string, x: number, y: number, fill: string, align?: "left" | "center" | "right", size?: number): void;
  image(pixels: ImageData, x: number, y: number, w: number, h: number): void;
}

const font = (size: number): string => `${size}px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;

export class CanvasSurface implements Surface {
  constructor(readonly g: CanvasRenderingContext2D) {}
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string): void {
    if (fill !== "none") {
      this.g.fillStyle = fill;
      this.g.fillRect(x, y, w, h);
    }
    if (stroke) {
      this.g.strokeStyle = stroke;
      this.g.lineWidth = 1;
      this.g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
  }
  private path(points: ArrayLike<number>): void {
    this.g.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) i === 0 ? this.g.moveTo(points[i]!, points[i + 1]!) : this.g.lineTo(points[i]!, points[i + 1]!);
  }
  line(points: ArrayLike<number>, stroke: string, width = 1.2): void {
    this.path(points);
    this.g.strokeStyle = stroke;
    this.g.lineWidth = width;
    this.g.lineJoin = "bevel"; // the cheapest
    this.g.stroke();
  }
  area(points: number[], fill: string): void {
    this.path(points);
    this.g.closePath();
    this.g.fillStyle = fill;
    this.g.fill();
  }
  text(text: string, x: number, y: number, fill: string, align: CanvasTextAlign = "left", size = 11): void {
    this.g.fillStyle = fill;
    this.g.font = font(size);
    this.g.textAlign = align;
    this.g.textBaseline = "middle";
    this.g.fillText(text, x, y);
  }
  private scratch: OffscreenCanvas | null = null;
  image(pixels: ImageData, x: number, y: number, w: number, h: number): void {
    // The short way, if a pixel of the image is a pixel of the canvas.
    const t = this.g.getTransform();
    if (t.a === 1 && t.d === 1 && pixels.width === w && pixels.height === h && Number.isInteger(x) && Number.isInteger(y))
      return this.g.putImageData(pixels, x, y);
    if (this.scratch === null || this.scratch.width !== pixels.width || this.scratch.height !== pixels.height)
      this.scratch = new OffscreenCanvas(pixels.width, pixels.height);
    this.scratch.getContext("2d", { willReadFrequently: true })!.putImageData(pixels, 0, 0);
    this.g.imageSmoothingEnabled = false;
    this.g.drawImage(this.scratch, x, y, w, h);
  }
}

const xml = (s: string): string => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const round = (v: number): string => String(+v.toFixed(2));

export class SvgSurface implements Surface {
  private parts: string[] = [];
  constructor(
    readonly width: number,
    readonly height: number,
  ) {}
  rect(x: number, y: number, w: number, h: number, fill: string, stroke?: string): void {
    this.parts.push(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}" fill="${fill}"${stroke ? ` stroke="${stroke}"` : ""}/>`,
    );
  }
  private points(p: ArrayLike<number>): string {
    const out: string[] = [];
    for (let i = 0; i + 1 < p.length; i += 2) out.push(round(p[i]!) + "," + round(p[i + 1]!));
    return out.join(" ");
  }
  line(points: ArrayLike<number>, stroke: string, width = 1.2): void {
    this.parts.push(`<polyline points="${this.points(points)}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`);
  }
  area(points: number[], fill: string): void {
    this.parts.push(`<polygon points="${this.points(points)}" fill="${fill}"/>`);
  }
  text(text: string, x: number, y: number, fill: string, align = "left", size = 11): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}" dominant-baseline="middle">${xml(text)}</text>`,
    );
  }
  image(pixels: ImageData, x: number, y: number, w: number, h: number): void {
    const canvas = document.createElement("canvas");
    canvas.width = pixels.width;
    canvas.height = pixels.height;
    canvas.getContext("2d")!.putImageData(pixels, 0, 0);
    this.parts.push(
      `<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"/>`,
    );
  }
  toString(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, DejaVu Sans, sans-serif">${this.parts.join("\n")}</svg>\n`;
  }
}

/** A canvas that follows the size of its element and the density of the screen. */
export class Picture {
  readonly canvas: HTMLCanvasElement;
  width = 0;
  height = 0;
  private scheduled = false;
  constructor(
    readonly host: HTMLElement,
    readonly name: string,
    private draw: (surface: Surface, width: number, height: number) => void,
  ) {
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    host.append(this.canvas);
    new ResizeObserver(() => this.redraw()).observe(host);
  }
  redraw(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.paint();
    });
  }
  paint(): void {
    const density = window.devicePixelRatio || 1;
    this.width = this.host.clientWidth;
    this.height = this.host.clientHeight;
    if (this.width === 0 || this.height === 0) return;
    const w = Math.round(this.width * density),
      h = Math.round(this.height * density);
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = this.width + "px";
      this.canvas.style.height = this.height + "px";
    }
    // The canvas is in main memory: the map's pixels are made there, and many machines that show reports have no graphics card.
    const g = this.canvas.getContext("2d", { willReadFrequently: true })!;
    g.setTransform(density, 0, 0, density, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    this.draw((this.surface ??= new CanvasSurface(g)), this.width, this.height);
  }
  private surface: CanvasSurface | null = null;
  drawOn(surface: Surface): void {
    this.draw(surface, this.width, this.height);
  }
  svg(): string {
    return svgOf(this.width, this.height, (surface) => this.draw(surface, this.width, this.height));
  }
  png(): Promise<Blob> {
    return new Promise((resolve) => {
      const copy = document.createElement("canvas");
      copy.width = this.canvas.width;
      copy.height = this.canvas.height;
      const g = copy.getContext("2d")!;
      g.fillStyle = getComputedStyle(document.body).backgroundColor;
      g.fillRect(0, 0, copy.width, copy.height);
      g.drawImage(this.canvas, 0, 0);
      copy.toBlob((b) => resolve(b!), "image/png");
    });
  }
}

/** A picture that is on no screen. */
export function svgOf(width: number, height: number, draw: (surface: Surface) => void): string {
  const surface = new SvgSurface(width, height);
  surface.rect(0, 0, width, height, getComputedStyle(document.body).backgroundColor);
  draw(surface);
  return surface.toString();
}
export function pngOf(width: number, height: number, draw: (surface: Surface) => void): Promise<Blob> {
  const canvas = document.createElement("canvas"),
    density = window.devicePixelRatio || 1,
    g = canvas.getContext("2d")!;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  g.scale(density, density);
  g.fillStyle = getComputedStyle(document.body).backgroundColor;
  g.fillRect(0, 0, width, height);
  draw(new CanvasSurface(g));
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob!), "image/png"));
}

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
