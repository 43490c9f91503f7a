// Rows of a picture that a server made: where very much lies in a pixel, its state is all that is known.
import { numbersByName, numbersOf } from "../columns";
import type { PixelColumns } from "../header";
import { Segments, type Base } from "./segments";

/** Runs of equal pixels of one row. */
export interface Runs {
  end: Uint32Array; // in pixels
  state: Int16Array; // -1: nothing is known
  isHalf: Uint8Array; // at least half of each pixel is known
  longest: Float64Array; // ns of the longest call
  taskClass: Float64Array | null; // TaskColors; null: they were not asked for
  passing: Float64Array | null; // 1 + state or class; 0: nothing passes; null: there is no filter
  passingLongest: Float64Array | null;
}
/** The pixels of a row. */
export interface PixelRow {
  runs: Runs;
  window: [number, number]; // on its clock
  count: number; // pixels
  stretches: Base[];
}

/** By location; null for those that have none. */
export async function readRuns(pixels: PixelColumns): Promise<(Runs | null)[]> {
  const { lengths, states, longest } = await numbersByName(pixels, ["lengths", "states", "longest"]),
    more = async (column: number | undefined): Promise<Float64Array | null> => (column === undefined ? null : numbersOf(column)),
    [classes, passing, passingLongest] = [await more(pixels.classes), await more(pixels.passing), await more(pixels.passing_longest)],
    length = (code: number): number => (code === 0 ? 0 : 2 ** ((code - 0.5) / 4));
  let at = 0;
  return pixels.runs.map((n) => {
    if (n === 0) return null;
    const part = (column: Float64Array | null): Float64Array | null => column && column.slice(at, at + n),
      end = part(lengths)!,
      own = states.subarray(at, at + n),
      runs: Runs = {
        end: Uint32Array.from(end),
        state: Int16Array.from(own, (code) => (code === 0 ? -1 : (code - 1) >> 1)),
        isHalf: Uint8Array.from(own, (code) => (code === 0 ? 0 : (code - 1) & 1)),
        longest: part(longest)!.map(length),
        taskClass: part(classes),
        passing: part(passing),
        passingLongest: part(passingLongest)?.map(length) ?? null,
      };
    for (let i = 1; i < n; ++i) runs.end[i]! += runs.end[i - 1]!;
    at += n;
    return runs;
  });
}

/** Pieces of a row, on its clock: runs, and sums of iterations without events where more is known of these.
 *  @param states their number; @param of the state of a run; @param longest its longest call */
export function mixedSegments(
  pixels: PixelRow,
  states: number,
  stretchSums: Float64Array,
  of: (run: number) => number,
  longest: (run: number) => number,
): Segments {
  const { runs, count, stretches } = pixels,
    [from, to] = pixels.window,
    begins: number[] = [],
    what: number[] = [],
    owner: number[] = [],
    lengths: number[] = [];
  const piece = (begin: number, state: number, stretch: number, ns: number): void => {
    begins.push(begin);
    what.push(state);
    owner.push(stretch);
    lengths.push(ns);
  };
  let s = 0,
    at = from;
  for (let i = 0; i < runs.end.length; ++i) {
    const end = from + (runs.end[i]! * (to - from)) / count,
      state = runs.state[i]! < 0 ? states + 1 : of(i);
    while (at < end) {
      while (s < stretches.length && stretches[s]!.end <= at) ++s;
      const stretch = stretches[s],
        isOver = runs.isHalf[i] === 1 || !stretch || stretch.begin >= end;
      if (isOver) {
        piece(at, state, -1, longest(i));
        at = end;
      } else if (stretch.begin > at) {
        piece(at, state, -1, longest(i));
        at = stretch.begin;
      } else {
        piece(at, states, stretch.stretch, 0);
        at = Math.min(end, stretch.end);
      }
    }
  }
  begins.push(Math.max(at, to));
  return new Segments(Float64Array.from(begins), Uint8Array.from(what), Int32Array.from(owner), states, stretchSums, () => 0, Float64Array.from(lengths));
}
