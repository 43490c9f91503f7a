// Limits and number of the shades of a heat map, as a part of the page's state and of its link.
import type { EventMode } from "../state";
import type { Span } from "../selection";

export interface ShadeLimits {
  from: number; // ns; 0: as the durations are
  to: number;
  count: number; // 0: the usual number
}
export type ShadeState = Partial<Record<EventMode, ShadeLimits>>;
export const noShades: ShadeState = {};
export const noLimits: ShadeLimits = { from: 0, to: 0, count: 0 };
export const fewestShades = 2,
  mostShades = 64;

/** Shades that nobody has chosen. */
export const usualShades = (mode: EventMode): number => (mode === "remote" ? 11 : 33);
export const hasLimits = (mode: EventMode): boolean => mode === "duration" || mode === "task_duration";
export const hasShades = (mode: EventMode): boolean => hasLimits(mode) || mode === "remote";

const isCount = (n: number): boolean => n === 0 || (Number.isInteger(n) && n >= fewestShades && n <= mostShades);
/** Why they make no sense; empty: they do. */
export function shadeProblem({ from, to, count }: ShadeLimits): string {
  if (!isCount(count)) return `there are ${fewestShades} to ${mostShades} shades`;
  if (!(from >= 0 && to >= 0 && from < Infinity && to < Infinity)) return "limits are durations: 20 us, 1.5 ms";
  return to > 0 && from >= to ? "the first limit is below the second one" : "";
}

/** What is not chosen is as the durations are. */
export function limitsIn(shades: ShadeLimits | undefined, [least, most]: Span): Span {
  const from = shades?.from || least,
    to = shades?.to || most;
  if (from < to) return [from, to];
  return shades?.from ? [from, 10 * from] : [to / 10, to];
}

/** As part of a link: "duration.1000.0.8,remote.0.0.5". */
export const shadeCode = (shades: ShadeState): string =>
  Object.entries(shades)
    .filter(([, { from, to, count }]) => from > 0 || to > 0 || count > 0)
    .map(([mode, { from, to, count }]) => [mode, Math.round(from), Math.round(to), count].join("."))
    .join(",");
/** Ignores what makes no sense. */
export function shadesOf(code: string): ShadeState {
  const out: ShadeState = {};
  for (const part of code.split(",")) {
    const [, mode, ...numbers] = /^(duration|task_duration|remote)\.(\d{1,15})\.(\d{1,15})\.(\d{1,3})$/.exec(part) ?? [],
      [from, to, count] = numbers.map(Number);
    if (mode === undefined) continue;
    const limits: ShadeLimits = hasLimits(mode as EventMode) ? { from: from!, to: to!, count: count! } : { ...noLimits, count: count! };
    if (!shadeProblem(limits)) out[mode as EventMode] = limits;
  }
  return out;
}
