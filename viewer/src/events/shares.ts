// What a selected part of the timeline consists of.
import type { EventSpan } from "../state";
import type { EventsHeader } from "../header";
import type { Span } from "../selection";
import type { Passing } from "./filter";
import type { Pieces } from "./pieces";
import { lastBefore, type EventRow, type Events } from "./rows";

/** Bytes from rank to rank. `bytes` and `counts` are by sender, then receiver, both positions in `ranks`. */
export interface Matrix {
  ranks: number[];
  bytes: Float64Array;
  counts: Float64Array;
  leftOut: number; // ranks
}
export interface Shares {
  from: number;
  to: number; // on the axis
  rows: number; // that have some of it
  states: Float64Array; // ns, of what is known event by event, and passes the filter
  summed: Float64Array; // ns, of iterations of which the sums are known; the same
  all: number; // ns, whatever the filter says
  /** How many threads compute at a time, on average, in tasks or not; with a filter: how many are in what passes. */
  parallelism: number;
  matrix: Matrix | null;
}

export const isIteration = (span: EventSpan): span is { phase: number; number: number } => "phase" in span;

/** Where a row has it, on the row's clock; null: nowhere. */
export function spanOfRow(row: EventRow, span: EventSpan): Span | null {
  if (!isIteration(span)) return [Math.round(row.own(span.from)), Math.round(row.own(span.to))];
  const { parts, stretches } = row;
  for (let p = 0; p < parts.begin.length; ++p) if (parts.phase[p] === span.phase && parts.number[p] === span.number) return [parts.begin[p]!, parts.end[p]!];
  for (let s = 0; s < stretches.begin.length; ++s) {
    const at = span.number - stretches.first[s]!,
      count = stretches.count[s]!;
    if (stretches.phase[s] !== span.phase || at < 0 || at >= count) continue;
    const each = (stretches.end[s]! - stretches.begin[s]!) / count; // of several, where it is in them is not known
    return [stretches.begin[s]! + at * each, stretches.begin[s]! + (at + 1) * each];
  }
  return null;
}

export function sharesOf(events: Events, header: EventsHeader, span: EventSpan, pieces: Pieces): Shares | null {
  const states = header.states.length,
    task = header.states.findIndex(({ key }) => key === "task"),
    known = new Float64Array(states),
    summed = new Float64Array(states);
  let all = 0,
    from = Infinity,
    to = -Infinity,
    rows = 0;
  const spans = events.rows.map((row) => spanOfRow(row, span));
  events.rows.forEach((row, r) => {
    const own = spans[r];
    if (!own) return;
    const one = pieces.of(r, null),
      here = one.sums(own[0], own[1]);
    if (here.every((ns) => ns === 0)) return;
    ++rows;
    for (const ns of here) all += ns;
    for (let s = 0; s < states; ++s) {
      known[s]! += here[s]!;
      summed[s]! += here[one.states + s]!;
    }
    from = Math.min(from, row.place(own[0]));
    to = Math.max(to, row.place(own[1]));
  });
  if (rows === 0) return null;
  if (!isIteration(span)) [from, to] = [span.from, span.to];
  return {
    from,
    to,
    rows,
    states: known,
    summed,
    all,
    parallelism:
      [...known, ...summed].reduce((sum, ns, s) => sum + (pieces.passing.isActive || s % states === 0 || s % states === task ? ns : 0), 0) / (to - from),
    matrix: matrixOf(pairsOf(events, spans, pieces.passing)),
  };
}

/** What goes from a rank to another one; -1: not known. */
export interface RankPair {
  from: number;
  to: number;
  bytes: number;
  count: number;
}

/** Messages whose sending call began there; where that one is not known, those whose receiving call ended there, unless it may be that of another one. */
function pairsOf(events: Events, spans: (Span | null)[], passing: Passing): RankPair[] {
  const sums = new Map<number, RankPair>(),
    { messages, rows } = events;
  for (let m = 0; m < messages.count; ++m) {
    const sender = messages.sender[m]!,
      row = sender >= 0 ? sender : messages.receiver[m]!,
      span = spans[row];
    if (!span || messages.isCountedElsewhere[m]) continue;
    const ns = sender >= 0 ? rows[row]!.calls.begin[messages.sending[m]!]! : rows[row]!.calls.end[messages.receiving[m]!]! - 1;
    if (ns < span[0] || ns >= span[1] || !passing.of(row, sender >= 0 ? messages.sending[m]! : messages.receiving[m]!)) continue;
    const from = messages.from[m]!,
      to = messages.to[m]!,
      key = (from + 1) * 2 ** 26 + to + 1;
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { from, to, bytes: 0, count: 0 }));
    sum.bytes += messages.bytes[m]!;
    ++sum.count;
  }
  return [...sums.values()];
}

/** @param mostRanks with most bytes; null: there are no messages */
export function matrixOf(pairs: RankPair[], mostRanks = 24): Matrix | null {
  const ofRank = new Map<number, number>();
  for (const { from, to, bytes, count } of pairs) for (const rank of [from, to]) ofRank.set(rank, (ofRank.get(rank) ?? 0) + bytes + count);
  if (pairs.length === 0) return null;
  const ranks = [...ofRank.entries()]
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostRanks)
    .map(([rank]) => rank)
    .sort((a, b) => a - b);
  const at = new Map(ranks.map((rank, i) => [rank, i])),
    n = ranks.length,
    bytes = new Float64Array(n * n),
    counts = new Float64Array(n * n);
  for (const sum of pairs) {
    const [i, k] = [at.get(sum.from), at.get(sum.to)];
    if (i === undefined || k === undefined) continue;
    bytes[i * n + k]! += sum.bytes;
    counts[i * n + k]! += sum.count;
  }
  return { ranks, bytes, counts, leftOut: ofRank.size - n };
}

/** The piece of a part or stretch that a time of a row lies in, as what a click selects. */
export function iterationAt(row: EventRow, ns: number): { phase: number; number: number } | null {
  const p = lastBefore(row.parts.begin, ns);
  if (p >= 0 && ns < row.parts.end[p]!) return row.parts.phase[p]! >= 0 ? { phase: row.parts.phase[p]!, number: row.parts.number[p]! } : null;
  const s = lastBefore(row.stretches.begin, ns),
    { begin, end, first, count, phase } = row.stretches;
  if (s < 0 || ns >= end[s]!) return null;
  return { phase: phase[s]!, number: first[s]! + Math.min(count[s]! - 1, Math.floor((count[s]! * (ns - begin[s]!)) / (end[s]! - begin[s]!))) };
}
