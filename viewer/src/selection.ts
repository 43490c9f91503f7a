// A selection: what the numbers of the page are about.
import type { Data } from "./data";
import { plural } from "./format";
import type { Header } from "./header";

export type Span = [number, number];

/** Iterations of a phase, and ranks: from (included) to (excluded). Phase -1 is the whole run. `rest` selects the other ranks or, if `ranks` is
 *  null, the other iterations. `iterations` and `scattered` are there if not all iterations from..to and not all `ranks` are selected: disjoint
 *  ranges in ascending order. */
export interface Selection {
  phase: number;
  from: number;
  to: number;
  ranks: Span | null;
  rest?: boolean;
  iterations?: Span[];
  scattered?: Span[];
}

/** Not one range of iterations and one of ranks. The server knows ranges only. */
export const isScattered = (s: Selection): boolean => s.iterations !== undefined || s.scattered !== undefined;
/** The iterations of a selection of a range. */
export const iterationSpans = (s: Selection): Span[] => s.iterations ?? [[s.from, s.to]];
/** The ranks; null for all. */
export const rankSpans = (s: Selection): Span[] | null => s.scattered ?? (s.ranks ? [s.ranks] : null);

/** @param iterations and ranks none for all */
export function scatteredSelection(phase: number, iterations: Span[], ranks: Span[], count: number): Selection {
  const s: Selection = { phase, from: 0, to: count, ranks: null };
  if (iterations.length > 0) [s.from, s.to] = [iterations[0]![0], iterations.at(-1)![1]];
  if (ranks.length > 0) s.ranks = [ranks[0]![0], ranks.at(-1)![1]];
  if (iterations.length > 1) s.iterations = iterations;
  if (ranks.length > 1) s.scattered = ranks;
  return s;
}

/** Of a flat list: from (included) to (excluded), one range after the other. */
export const spansOfFlat = (flat: number[]): Span[] => flat.flatMap((from, i) => (i % 2 === 0 ? [[from, flat[i + 1]!] as Span] : []));

/** Ranges of numbers in ascending order. */
export function spansOf(numbers: number[]): Span[] {
  const spans: Span[] = [];
  for (const n of numbers)
    if (spans.at(-1)?.[1] === n) ++spans.at(-1)![1];
    else spans.push([n, n + 1]);
  return spans;
}

/** "3, 10–12, 20, …" of numbers that count from `first`. */
export function spanWords(spans: Span[], first: number): string {
  const shown = spans.slice(0, 4).map(([from, to]) => (to - from === 1 ? String(from + first) : `${from + first}–${to - 1 + first}`));
  return shown.join(", ") + (spans.length > 4 ? ", …" : "");
}

export function isRange(data: Data, s: Selection): boolean {
  if (s.phase < 0) return false;
  if (s.iterations) return true;
  const n = data.header.phases[s.phase]!.iterations ?? 0;
  return s.to > s.from && !(s.from === 0 && s.to >= n);
}

export const hasRank = (s: Selection, rank: number): boolean => s.ranks === null || rankSpans(s)!.some(([from, to]) => rank >= from && rank < to) === !s.rest;

export const hasLocation = (data: Data, s: Selection, l: number): boolean => hasRank(s, data.header.locations.rank[l]!);

/** Its form in a link. */
export const selectionCode = (s: Selection): string =>
  `${s.phase}.${codeOf(iterationSpans(s))}` + (s.ranks ? `.${codeOf(rankSpans(s)!)}` : "") + (s.rest ? ".rest" : "");

const codeOf = (spans: Span[]): string => spans.map(([from, to]) => `${from}-${to}`).join("_");

/** Reads ranges below `count`. Returns an empty list if they make no sense. */
function spansIn(code: string, count: number): Span[] {
  const spans = code.split("_").map((part) => part.split("-").map((v) => Math.min(Number(v), count)) as Span);
  return spans.every(([from, to], i) => to > from && (i === 0 || from >= spans[i - 1]![1])) ? spans : [];
}

/** Reads it from a link. Returns null if it makes no sense. */
export function selectionOf(h: Header, text: string | null): Selection | null {
  const m = /^(-?\d+)\.(\d+-\d+(?:_\d+-\d+)*)(?:\.(\d+-\d+(?:_\d+-\d+)*))?(\.rest)?$/.exec(text ?? "");
  if (!m) return null;
  const phase = Number(m[1]);
  if (phase < -1 || phase >= h.phases.length) return null;
  const n = phase < 0 ? 0 : (h.phases[phase]!.iterations ?? 0);
  const s = scatteredSelection(phase, spansIn(m[2]!, n), spansIn(m[3] ?? "", h.job.ranks), 0);
  if (m[4] && (s.ranks || s.to > s.from)) s.rest = true;
  return s;
}

/** The page counts iterations from 1 as the report does; code and links count from 0. */
export function describeSelection(data: Data, s: Selection): string {
  if (s.rest) return "all but " + describeSelection(data, { ...s, rest: false });
  const parts: string[] = [];
  if (s.phase < 0) parts.push("whole run");
  else if (s.iterations)
    parts.push(
      `${plural(
        s.iterations.reduce((sum, [from, to]) => sum + to - from, 0),
        "iteration",
      )} (${spanWords(s.iterations, 1)}) of ${data.phaseName(s.phase)}`,
    );
  else if (isRange(data, s))
    parts.push(s.to - s.from === 1 ? `iteration ${s.to} of ${data.phaseName(s.phase)}` : `iterations ${s.from + 1}–${s.to} of ${data.phaseName(s.phase)}`);
  else parts.push(data.header.phases[s.phase]!.iterations ? `all iterations of ${data.phaseName(s.phase)}` : `phase ${data.phaseName(s.phase)}`);
  if (s.scattered) parts.push(`ranks ${spanWords(s.scattered, 0)}`);
  else if (s.ranks) parts.push(s.ranks[1] - s.ranks[0] === 1 ? `rank ${s.ranks[0]}` : `ranks ${s.ranks[0]}–${s.ranks[1] - 1}`);
  else parts.push("all ranks");
  return parts.join(", ");
}
