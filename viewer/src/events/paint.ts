// The pixels of a row of the timeline. A pixel has the colour of the state that most of its time is in.
import type { Clusters } from "../clusters";
import { pixel } from "../color";
import type { Part } from "../ripmap";
import type { EventMode } from "../state";
import { kindColor, lighter, lightest, regionColor, type Rgb, type Shades } from "./colors";
import type { EventRow } from "./rows";
import type { Segments } from "./segments";
import { iterationAt } from "./shares";

export interface Painter {
  mode: EventMode;
  colors: number[]; // pixels, by state
  passing: number; // states from here on are those of what does not pass the filter
  shades: Shades;
  clusters: Map<number, Clusters>; // by phase
}

export function painter(mode: EventMode, colors: Rgb[], isOfTasks: boolean, isFiltered: boolean, shades: Shades, clusters: Map<number, Clusters>): Painter {
  const pixels = colors.map(pixel);
  if (isOfTasks) pixels[0] = lightest(pixels[0]!); // in no task
  return { mode, colors: isFiltered ? [...pixels, ...pixels.map(lightest)] : pixels, passing: pixels.length, shades, clusters };
}

/** Lines y0 to y1 of an image of `width` pixels a line; column x is the time from start + x * perPixel on the axis. */
export function paintRow(
  out: Uint32Array,
  width: number,
  [y0, y1]: [number, number],
  part: Part,
  row: EventRow,
  pieces: Segments,
  start: number,
  perPixel: number,
  p: Painter,
): void {
  const top = Math.max(y0, part.top),
    bottom = Math.min(y1, part.bottom);
  if (top >= bottom) return;
  const { colors } = p,
    least = perPixel * 1e-6, // less is rounding
    states = colors.length,
    sums = new Float64Array(2 * states),
    height = y1 - y0;
  const line = out.subarray(top * width, (top + 1) * width);
  const stacked: number[] = [];
  const isDuration = p.mode === "duration" || p.mode === "task_duration",
    pale = lightest(0x909090);
  let before = new Float64Array(2 * states),
    after = new Float64Array(2 * states),
    piece = pieces.seek(row.own(start + part.left * perPixel), 0),
    isKnown = false; // `after` has the sums up to here
  for (let x = part.left; x < part.right; ++x) {
    const from = row.own(start + x * perPixel),
      to = row.own(start + (x + 1) * perPixel),
      first = piece;
    piece = pieces.seek(to, first);
    if (isDuration && from < pieces.begins[pieces.count]!) {
      const longest = pieces.longestCall(first, pieces.begins[piece]! < to ? piece + 1 : piece);
      if (longest > 0) {
        line[x] = p.shades.of(longest);
        isKnown = false;
        continue;
      }
    }
    if (!isKnown) pieces.sumsBefore(from, first, after);
    isKnown = true;
    [before, after] = [after, before];
    pieces.sumsBefore(to, piece, after);
    let most = 0,
      largest = 0,
      events = 0,
      summed = 0;
    for (let s = 0; s < states; ++s) {
      if (s === p.passing && largest >= least) largest = Infinity; // what passes is seen, however short it is
      const ns = after[s]! - before[s]!;
      events += ns;
      summed += after[states + s]! - before[states + s]!;
      if (ns > largest) {
        most = s;
        largest = ns;
      }
    }
    if (events + summed < least) continue;
    if (p.mode === "kind") line[x] = kindPixel(row, (from + to) / 2, p, summed > events);
    else if (isDuration) line[x] = summed > events || p.passing < states ? pale : 0;
    else if (summed <= events) line[x] = colors[most]!;
    else stacked.push(x);
  }
  for (let y = top + 1; y < bottom; ++y) out.copyWithin(y * width + part.left, top * width + part.left, top * width + part.right);
  // Shares of iterations of which the sums are known lie over each other.
  for (const x of stacked) {
    pieces.sums(row.own(start + x * perPixel), row.own(start + (x + 1) * perPixel), sums);
    let all = 0;
    for (const ns of sums) all += ns;
    let state = 0,
      below = sums[0]! + sums[states]!;
    for (let y = bottom - 1; y >= top; --y) {
      const share = ((y1 - y - 0.5) / height) * all;
      while (state + 1 < states && share >= below) {
        ++state;
        below += sums[state]! + sums[states + state]!;
      }
      out[y * width + x] = (y1 - y) % 3 === 0 ? lightest(colors[state]!) : lighter(colors[state]!);
    }
  }
}

function kindPixel(row: EventRow, ns: number, p: Painter, isSummed: boolean): number {
  const iteration = iterationAt(row, ns);
  if (!iteration) return lightest(0x909090);
  const clusters = p.clusters.get(iteration.phase),
    own = clusters?.of[row.location],
    c = own?.members[iteration.number],
    kind = own && c !== undefined && c < own.count - 1 ? clusters!.kinds[own.first + c]! : 0;
  return isSummed ? lighter(pixel(kindColor(kind))) : pixel(kindColor(kind));
}

/** Named regions, by their names' colours; a pixel has the innermost one in its middle. */
export function paintRegions(
  out: Uint32Array,
  width: number,
  [y0, y1]: [number, number],
  part: Part,
  row: EventRow,
  passes: (call: number) => boolean,
  start: number,
  perPixel: number,
): void {
  const top = Math.max(y0, part.top),
    bottom = Math.min(y1, part.bottom),
    { regions } = row;
  if (top >= bottom || !regions) return;
  for (let x = part.left; x < part.right; ++x) {
    const at = regions.at(row.own(start + (x + 0.5) * perPixel));
    if (at < 0 || !regions.isCall(at)) continue;
    const opaque = pixel(regionColor(row.calls.node[regions.owner[at]!]!)),
      color = passes(regions.owner[at]!) ? opaque : lightest(opaque);
    for (let y = top; y < bottom; ++y) out[y * width + x] = color;
  }
}
