// Pixels of the value map and of the strip. They are drawn again only where what they show has changed, not for each move of the pointer.
import { shifted, type Part } from "../ripmap";
import type { Zoom } from "../state";

export class Images {
  private images = new Map<string, { content: number; zoom: Zoom; image: ImageData }>();

  clear(): void {
    this.images.clear();
  }

  /** `content` differs if what is shown differs; `fill` draws a part of it. */
  draw(name: string, content: number, zoom: Zoom, w: number, h: number, fill: (out: Uint32Array, part: Part) => void): ImageData {
    const known = this.images.get(name);
    const image = known?.image.width === w && known.image.height === h ? known.image : new ImageData(w, h);
    const out = new Uint32Array(image.data.buffer);
    const move = known && known.content === content && known.image === image ? pixelsMoved(known.zoom, zoom, w, h) : null;
    if (move?.[0] === 0 && move[1] === 0) return image;
    const parts = move ? shifted(out, w, h, move[0], move[1]) : [{ left: 0, top: 0, right: w, bottom: h }];
    for (const part of parts) {
      for (let y = part.top; y < part.bottom; ++y) out.fill(0, y * w + part.left, y * w + part.right);
      fill(out, part);
    }
    this.images.set(name, { content, zoom, image });
    return image;
  }
}

/** Returns by how many whole pixels a view was moved, or null if it was moved by parts of pixels or has another size. */
function pixelsMoved(from: Zoom, to: Zoom, w: number, h: number): [number, number] | null {
  const moved = (a0: number, a1: number, b0: number, b1: number, pixels: number): number => {
    const pixel = (a1 - a0) / pixels,
      by = (b0 - a0) / pixel,
      whole = Math.round(by);
    return Math.abs(b1 - b0 - (a1 - a0)) > 1e-6 * (a1 - a0) || Math.abs(by - whole) > 0.01 ? NaN : whole;
  };
  const dx = moved(from[0], from[1], to[0], to[1], w),
    dy = moved(from[2], from[3], to[2], to[3], h);
  return Number.isNaN(dx) || Number.isNaN(dy) ? null : [dx, dy];
}
