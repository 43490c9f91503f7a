// A value map at every reduction of its two axes by powers of two, each made when first needed: a pixel never looks at more than
// a few cells, however many ranks and iterations there are.

export type Pooling = "max" | "mean";

interface Level { width: number; height: number; cells: Uint8Array }

export class Ripmap {
  private levels = new Map<number, Level>();
  constructor(readonly width: number, readonly height: number, cells: Uint8Array, readonly pooling: Pooling) {
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
        const a = from.cells[first]!, b = inside ? from.cells[first + (alongX ? 1 : from.width)]! : 0;
        // 0 means that there is no value.
        cells[y * width + x] = !mean || a === 0 || b === 0 ? (a > b ? a : b) : (a + b + 1) >> 1;
      }
    const made = { width, height, cells };
    this.levels.set(key, made);
    return made;
  }

  /** Draws cells x0..x1, y0..y1 into pixels; `colors` by level. */
  draw(out: Uint32Array, w: number, h: number, x0: number, x1: number, y0: number, y1: number, colors: Uint32Array): void {
    const reduction = (cells: number, pixels: number): number => Math.max(0, Math.min(20, Math.round(Math.log2(Math.max(1, cells / pixels)))));
    const lx = reduction(x1 - x0, w), ly = reduction(y1 - y0, h);
    const { width, height, cells } = this.level(lx, ly);
    const spans = (pixels: number, from: number, to: number, shift: number, most: number): [Int32Array, Int32Array] => {
      const first = new Int32Array(pixels), last = new Int32Array(pixels);
      for (let p = 0; p < pixels; ++p) {
        const a = Math.floor(from + ((to - from) * p) / pixels), b = Math.ceil(from + ((to - from) * (p + 1)) / pixels) - 1;
        first[p] = Math.min(most - 1, Math.max(0, a >> shift));
        last[p] = Math.min(most - 1, Math.max(first[p]!, b >> shift));
      }
      return [first, last];
    };
    const [fx, tx] = spans(w, x0, x1, lx, width), [fy, ty] = spans(h, y0, y1, ly, height);
    const mean = this.pooling === "mean";
    const row = new Uint8Array(w);
    for (let y = 0; y < h; ++y) {
      const top = fy[y]!, bottom = ty[y]!;
      // Rows that show the same cells are the same.
      if (y > 0 && top === fy[y - 1] && bottom === ty[y - 1]) { out.copyWithin(y * w, (y - 1) * w, y * w); continue; }
      if (mean) this.meanRow(row, cells, width, fx, tx, top, bottom);
      else {
        row.fill(0);
        for (let r = top; r <= bottom; ++r) {
          const base = r * width;
          for (let x = 0; x < w; ++x) {
            let value = row[x]!;
            for (let c = base + fx[x]!, end = base + tx[x]!; c <= end; ++c) if (cells[c]! > value) value = cells[c]!;
            row[x] = value;
          }
        }
      }
      for (let x = 0, at = y * w; x < w; ++x, ++at) out[at] = colors[row[x]!]!;
    }
  }

  private meanRow(row: Uint8Array, cells: Uint8Array, width: number, fx: Int32Array, tx: Int32Array, top: number, bottom: number): void {
    for (let x = 0; x < row.length; ++x) {
      let sum = 0, n = 0;
      for (let r = top; r <= bottom; ++r)
        for (let c = r * width + fx[x]!, end = r * width + tx[x]!; c <= end; ++c)
          if (cells[c] !== 0) { sum += cells[c]!; ++n; }
      row[x] = n === 0 ? 0 : Math.round(sum / n);
    }
  }
}
