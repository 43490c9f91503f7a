// A value map, reduced along its two axes by powers of two. Each reduction is made when it is first needed. A pixel never looks at more than
// a few cells, however many ranks and iterations there are.

export type Pooling = "max" | "mean";

interface Level {
  width: number;
  height: number;
  cells: Uint8Array;
}

/** Pixels of a picture, from left and top (included) to right and bottom (excluded). */
export interface Part {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Moves the pixels of a picture of w by h pixels by (dx, dy). Returns the parts that have to be drawn anew. */
export function shifted(out: Uint32Array, w: number, h: number, dx: number, dy: number): Part[] {
  if (Math.abs(dx) >= w || Math.abs(dy) >= h) return [{ left: 0, top: 0, right: w, bottom: h }];
  // All pixels move as one block. What wraps around at the sides is drawn anew.
  const from = dy * w + dx;
  if (from > 0) out.copyWithin(0, from);
  else if (from < 0) out.copyWithin(-from, 0, out.length + from);
  const parts: Part[] = [];
  if (dy !== 0) parts.push({ left: 0, right: w, top: dy > 0 ? h - dy : 0, bottom: dy > 0 ? h : -dy });
  if (dx !== 0) parts.push({ left: dx > 0 ? w - dx : 0, right: dx > 0 ? w : -dx, top: dy < 0 ? -dy : 0, bottom: dy > 0 ? h - dy : h });
  return parts;
}

export class Ripmap {
  private levels = new Map<number, Level>();
  constructor(
    readonly width: number,
    readonly height: number,
    cells: Uint8Array,
    readonly pooling: Pooling,
  ) {
    this.levels.set(0, { width, height, cells });
  }

  private level(lx: number, ly: number): Level {
    const key = lx * 64 + ly;
    const known = this.levels.get(key);
    if (known) return known;
    const mean = this.pooling === "mean";
    const alongX = lx > 0 && (ly === 0 || !this.levels.has(key - 1));
    const from = alongX ? this.level(lx - 1, ly) : this.level(lx, ly - 1);
    const width = alongX ? (from.width + 1) >> 1 : from.width;
    const height = alongX ? from.height : (from.height + 1) >> 1;
    const cells = new Uint8Array(width * height);
    for (let y = 0; y < height; ++y)
      for (let x = 0; x < width; ++x) {
        const first = alongX ? y * from.width + 2 * x : 2 * y * from.width + x;
        const inside = alongX ? 2 * x + 1 < from.width : 2 * y + 1 < from.height;
        const a = from.cells[first]!,
          b = inside ? from.cells[first + (alongX ? 1 : from.width)]! : 0;
        // 0 means that there is no value.
        cells[y * width + x] = !mean || a === 0 || b === 0 ? (a > b ? a : b) : (a + b + 1) >> 1;
      }
    const made = { width, height, cells };
    this.levels.set(key, made);
    return made;
  }

  /** Draws the cells x0..x1, y0..y1 into the pixels of `part`. `colors` has a colour per level. */
  draw(out: Uint32Array, w: number, h: number, x0: number, x1: number, y0: number, y1: number, colors: Uint32Array, part: Part): void {
    const reduction = (cells: number, pixels: number): number => Math.max(0, Math.min(20, Math.round(Math.log2(Math.max(1, cells / pixels)))));
    const lx = reduction(x1 - x0, w),
      ly = reduction(y1 - y0, h);
    const { width, height, cells } = this.level(lx, ly);
    const spans = (pixels: number, from: number, to: number, shift: number, most: number): [Int32Array, Int32Array] => {
      const first = new Int32Array(pixels),
        last = new Int32Array(pixels);
      for (let p = 0; p < pixels; ++p) {
        const a = Math.floor(from + ((to - from) * p) / pixels),
          b = Math.ceil(from + ((to - from) * (p + 1)) / pixels) - 1;
        first[p] = Math.min(most - 1, Math.max(0, a >> shift));
        last[p] = Math.min(most - 1, Math.max(first[p]!, b >> shift));
      }
      return [first, last];
    };
    const [fx, tx] = spans(w, x0, x1, lx, width),
      [fy, ty] = spans(h, y0, y1, ly, height);
    const mean = this.pooling === "mean";
    const row = new Uint8Array(w),
      high = new Uint8Array(width);
    for (let y = part.top; y < part.bottom; ++y) {
      const top = fy[y]!,
        bottom = ty[y]!;
      // Rows that show the same cells are the same.
      if (y > part.top && top === fy[y - 1] && bottom === ty[y - 1]) {
        out.copyWithin(y * w + part.left, (y - 1) * w + part.left, (y - 1) * w + part.right);
        continue;
      }
      if (mean) this.meanRow(row, cells, width, fx, tx, top, bottom, part);
      else {
        // Rows are joined first: fewer cells are looked at, and in the order of memory.
        const from = fx[part.left]!,
          to = tx[part.right - 1]! + 1;
        high.set(cells.subarray(top * width + from, top * width + to));
        for (let r = top + 1; r <= bottom; ++r)
          for (let c = r * width + from, end = r * width + to, at = 0; c < end; ++c, ++at) if (cells[c]! > high[at]!) high[at] = cells[c]!;
        for (let x = part.left; x < part.right; ++x) {
          let value = 0;
          for (let c = fx[x]! - from, end = tx[x]! - from; c <= end; ++c) if (high[c]! > value) value = high[c]!;
          row[x] = value;
        }
      }
      for (let x = part.left, at = y * w + x; x < part.right; ++x, ++at) out[at] = colors[row[x]!]!;
    }
  }

  private meanRow(row: Uint8Array, cells: Uint8Array, width: number, fx: Int32Array, tx: Int32Array, top: number, bottom: number, part: Part): void {
    for (let x = part.left; x < part.right; ++x) {
      let sum = 0,
        n = 0;
      for (let r = top; r <= bottom; ++r)
        for (let c = r * width + fx[x]!, end = r * width + tx[x]!; c <= end; ++c)
          if (cells[c] !== 0) {
            sum += cells[c]!;
            ++n;
          }
      row[x] = n === 0 ? 0 : Math.round(sum / n);
    }
  }
}
