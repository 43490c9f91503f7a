// What the page has of runs that are compared over time: columns are numbers of columns (columns.ts), times ns, means over ranks and repetitions.

export interface FunctionChange {
  difference: number;
  error: number | null; // half of the 95 % interval; null: not known
  kind: string;
  change: string; // what the difference consists of
  function: string;
  caller: string;
  below: string;
  place: string;
  ranks: string; // with nearly all of the difference; empty: no part of them
}

/** Pairs that follow each other and differ alike. */
export interface Segment {
  from: number; // places of the axis: from (included) to (excluded)
  to: number;
  pairs: number;
  iterations: string; // "401-1000"
  before: number; // of an iteration
  after: number;
  error: number | null;
  total: number;
  change: boolean;
  chance: string; // why it is no change
  head: string; // of a change; its lines are those of `libprofile compare --over-time`
  lines: { amount: string; use: string; text: string }[];
  functions: FunctionChange[];
  left_out: number; // functions
}

/** A group against the first one. */
export interface GroupOverTime {
  group: number;
  why: ""; // of one that cannot be compared: GroupNotCompared
  head: string;
  remarks: string[];
  first: [number, number]; // iterations of both runs with which the axis begins, from 0
  places: number; // pairs, and iterations without a partner
  window: number; // places in a point
  /** By point: pairs, iterations without a partner of the first and of the other run; sums of the pairs' times from the first point on; of points of
   *  several places the least and the largest time before, after, and difference. */
  columns: { pairs: number; alone_before: number; alone_after: number; before: number; after: number; extremes: number[] };
  segments: Segment[];
}

export interface GroupNotCompared {
  group: number;
  why: string;
}

export interface OverTimeHeader {
  why: string; // there is nothing to show; a sentence
  phase: string;
  remarks: string[];
  groups: (GroupOverTime | GroupNotCompared)[];
}
