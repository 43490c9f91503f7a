// A tree as CSV.
import { csvText } from "../format";
import type { TreeContent } from "./content";

export function csvOf(c: TreeContent, unit: string, walk: (visit: (node: number, depth: number) => void) => void): string {
  const lines = [
    [
      "depth",
      "path",
      "place",
      ...(c.isBottomUp ? [`exclusive [${unit}]`, `inclusive [${unit}]`] : [`inclusive [${unit}]`, `exclusive [${unit}]`]),
      ...(c.other ? (c.isBottomUp ? ["exclusive B", "inclusive B"] : ["inclusive B", "exclusive B"]) : []),
      ...(c.imbalance ? ["imbalance"] : []),
    ].join(","),
  ];
  const above: string[] = [];
  walk((n, depth) => {
    above.length = depth;
    above.push(c.name(n));
    const [a, b] = [c.unknown?.(n, false), c.unknown?.(n, true)];
    const known = (value: number, unknown?: boolean): number | string => (unknown ? "" : value);
    const path = depth < 1000 ? above.join(" > ") : "... > " + above.slice(-1000).join(" > "); // a limit for hostile profiles
    lines.push(
      [
        depth,
        csvText(path),
        csvText(c.side?.(n) ?? ""),
        known(c.inclusive(n), a),
        known(c.exclusive(n), a),
        ...(c.other ? [known(c.other.inclusive(n), b), known(c.other.exclusive(n), b)] : []),
        ...(c.imbalance ? [known(+c.imbalance(n).toFixed(6), a)] : []),
      ].join(","),
    );
  });
  return lines.join("\n") + "\n";
}
