// A selection: what the numbers of the page are about.
import type { Data } from "./data";
import type { Header } from "./header";

/** Iterations of a phase, and ranks: from (included) to (excluded). Phase -1 is the whole run. `rest` selects the other ranks or, if `ranks` is
 *  null, the other iterations. */
export interface Selection {
  phase: number;
  from: number;
  to: number;
  ranks: [number, number] | null;
  rest?: boolean;
}

export function isRange(data: Data, s: Selection): boolean {
  if (s.phase < 0) return false;
  const n = data.header.phases[s.phase]!.iterations ?? 0;
  return s.to > s.from && !(s.from === 0 && s.to >= n);
}

export function hasLocation(data: Data, s: Selection, l: number): boolean {
  const rank = data.header.locations.rank[l]!;
  return s.ranks === null || (rank >= s.ranks[0] && rank < s.ranks[1]) === !s.rest;
}

/** Its form in a link. */
export const selectionCode = (s: Selection): string =>
  `${s.phase}.${s.from}-${s.to}` + (s.ranks ? `.${s.ranks[0]}-${s.ranks[1]}` : "") + (s.rest ? ".rest" : "");

/** Reads it from a link. Returns null if it makes no sense. */
export function selectionOf(h: Header, text: string | null): Selection | null {
  const m = /^(-?\d+)\.(\d+)-(\d+)(?:\.(\d+)-(\d+))?(\.rest)?$/.exec(text ?? "");
  if (!m) return null;
  const [phase, from, to, r0, r1] = m.slice(1).map(Number) as [number, number, number, number, number];
  if (phase < -1 || phase >= h.phases.length) return null;
  const n = phase < 0 ? 0 : (h.phases[phase]!.iterations ?? 0);
  const s: Selection = { phase, from: Math.min(from, n), to: Math.min(to, n), ranks: null };
  if (m[4] !== undefined && r1 > r0 && r0 < h.job.ranks) s.ranks = [r0, Math.min(r1, h.job.ranks)];
  if (m[6] && (s.ranks || s.to > s.from)) s.rest = true;
  return s;
}

/** The page counts iterations from 1 as the report does; code and links count from 0. */
export function describeSelection(data: Data, s: Selection): string {
  if (s.rest) return "all but " + describeSelection(data, { ...s, rest: false });
  const parts: string[] = [];
  if (s.phase < 0) parts.push("whole run");
  else if (isRange(data, s))
    parts.push(s.to - s.from === 1 ? `iteration ${s.to} of ${data.phaseName(s.phase)}` : `iterations ${s.from + 1}–${s.to} of ${data.phaseName(s.phase)}`);
  else parts.push(data.header.phases[s.phase]!.iterations ? `all iterations of ${data.phaseName(s.phase)}` : `phase ${data.phaseName(s.phase)}`);
  if (s.ranks) parts.push(s.ranks[1] - s.ranks[0] === 1 ? `rank ${s.ranks[0]}` : `ranks ${s.ranks[0]}–${s.ranks[1] - 1}`);
  else parts.push("all ranks");
  return parts.join(", ");
}
