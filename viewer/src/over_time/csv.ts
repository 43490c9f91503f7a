// The points of two aligned runs as CSV.
import { csvText } from "../format";
import type { Aligned } from "./aligned";

export function csvOf(aligned: Aligned, [before, after]: [string, string]): string {
  const head = [
      `iteration of ${before}`,
      `iteration of ${after}`,
      "pairs",
      `only ${before}`,
      `only ${after}`,
      `${before} [ns]`,
      `${after} [ns]`,
      "difference [ns]",
      "sum of differences [ns]",
    ],
    lines = [head.map(csvText).join(",")];
  for (let p = 0; p < aligned.points; ++p) {
    const { pairs, aloneBefore, aloneAfter, firstBefore, firstAfter, sum, ...part } = aligned.part(p, p + 1),
      known = (value: number): number | string => (pairs > 0 ? value : "");
    lines.push(
      [
        pairs + aloneBefore > 0 ? firstBefore + 1 : "",
        pairs + aloneAfter > 0 ? firstAfter + 1 : "",
        pairs,
        aloneBefore,
        aloneAfter,
        known(part.before),
        known(part.after),
        known(part.after - part.before),
        sum,
      ].join(","),
    );
  }
  return lines.join("\n") + "\n";
}
