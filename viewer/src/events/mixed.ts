// Rows of a picture that a server made: where very much lies in a pixel, its state is all that is known.
import { numbersByName } from "../columns";
import type { PixelColumns } from "../header";
import { Segments, type Base } from "./segments";

/** Runs of equal pixels of one row. */
export interface Runs {
  end: Uint32Array; // in pixels
  state: Int16Array; // -1: nothing is known
  isHalf: Uint8Array; // at least half of each pixel is known
  longest: Float64Array; // ns of the longest call
}

/** By location; null for those that have none. */
export async function readRuns(pixels: PixelColumns): Promise<(Runs | null)[]> {
  const { lengths, states, longest } = await numbersByName(pixels, ["lengths", "states", "longest"]);
  let at = 0;
  return pixels.runs.map((n) => {
    if (n === 0) return null;
    const runs: Runs = { end: new Uint32Array(n), state: new Int16Array(n), isHalf: new Uint8Array(n), longest: new Float64Array(n) };
    for (let i = 0, end = 0; i < n; ++i, ++at) {
      runs.end[i] = end += lengths[at]!;
      runs.state[i] = states[at] === 0 ? -1 : (states[at]! - 1) >> 1;
      runs.isHalf[i] = states[at] === 0 ? 0 : (states[at]! - 1) & 1;
      runs.longest[i] = longest[at] === 0 ? 0 : 2 ** ((longest[at]! - 0.5) / 4);
    }
    return runs;
  });
}

/** Pieces of a row, on its clock: runs, and sums of iterations without events where more is known of these. */
export function mixedSegments(runs: Runs, [from, to]: [number, number], count: number, stretches: Base[], states: number, stretchSums: Float64Array): Segments {
  const begins: number[] = [],
    what: number[] = [],
    owner: number[] = [],
    longest: number[] = [];
  const piece = (begin: number, state: number, of: number, ns: number): void => {
    begins.push(begin);
    what.push(state);
    owner.push(of);
    longest.push(ns);
  };
  let s = 0,
    at = from;
  for (let i = 0; i < runs.end.length; ++i) {
    const end = from + (runs.end[i]! * (to - from)) / count,
      state = runs.state[i]!;
    while (at < end) {
      while (s < stretches.length && stretches[s]!.end <= at) ++s;
      const stretch = stretches[s],
        isOver = runs.isHalf[i] === 1 || !stretch || stretch.begin >= end;
      if (isOver) {
        piece(at, state < 0 ? states + 1 : state, -1, runs.longest[i]!);
        at = end;
      } else if (stretch.begin > at) {
        piece(at, state < 0 ? states + 1 : state, -1, runs.longest[i]!);
        at = stretch.begin;
      } else {
        piece(at, states, stretch.stretch, 0);
        at = Math.min(end, stretch.end);
      }
    }
  }
  begins.push(Math.max(at, to));
  return new Segments(Float64Array.from(begins), Uint8Array.from(what), Int32Array.from(owner), states, stretchSums, () => 0, Float64Array.from(longest));
}
