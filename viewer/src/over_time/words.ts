// What is said of a part of two aligned runs.
import { grouped, percent, plural, quantity, signed } from "../format";
import type { Part } from "./aligned";

const time = (ns: number): string => quantity(ns, "ns");

function iterations(first: number, count: number): string {
  return count === 1 ? `iteration ${grouped(first + 1)}` : `iterations ${grouped(first + 1)}–${grouped(first + count)}`;
}

function alone(count: number, run: string, other: string): string {
  return `${plural(count, "iteration")} of ${run} ${count === 1 ? "has" : "have"} no partner in ${other}`;
}

/** @param names of both runs
 *  @param segment number from 1; 0: none */
export function describe(part: Part, [before, after]: [string, string], segment: number): string {
  const { pairs, aloneBefore, aloneAfter } = part;
  if (pairs === 0) {
    const only = (first: number, count: number, run: string, other: string): string =>
      count === 0 ? "" : `${iterations(first, count)} of ${run} ${count === 1 ? "has" : "have"} no partner in ${other}`;
    return [only(part.firstBefore, aloneBefore, before, after), only(part.firstAfter, aloneAfter, after, before)].filter(Boolean).join("; ");
  }
  const difference = (part.after - part.before) / pairs,
    share = part.before > 0 ? ` (${difference < 0 ? "−" : "+"}${percent(Math.abs(difference * pairs) / part.before)})` : "",
    value = (sum: number, which: 0 | 1): string => time(sum / pairs) + (pairs > 1 ? ` (${time(part.least[which])} to ${time(part.most[which])})` : ""),
    which = iterations(part.firstBefore, pairs + aloneBefore),
    partner = iterations(part.firstAfter, pairs + aloneAfter).replace(/^iterations? /, ""),
    mean = pairs > 1 ? "mean " : "";
  return [
    `${which} of ${before}, ${partner} of ${after}: ${mean}${value(part.before, 0)}, ${value(part.after, 1)}; difference ${signed(difference, "ns")}${share}`,
    `up to here ${signed(part.sum, "ns")}`,
    ...(aloneBefore > 0 ? [alone(aloneBefore, before, after)] : []),
    ...(aloneAfter > 0 ? [alone(aloneAfter, after, before)] : []),
    ...(segment > 0 ? [`segment ${segment}`] : []),
  ].join("; ");
}
