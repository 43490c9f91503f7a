// A tree of several runs as rows: the values of each, and for each but the first how it differs from that.
import { csvText, escaped, exactly, percent, quantity, shortName, signed, times } from "../format";
import type { TreeContent } from "../tree/content";
import type { SideHeader, SideTree } from "./runs";

const minus = "−";

/** "+12.3 %", "3.1x", "new", "gone". */
export function relative(before: number, after: number): string {
  if (before === after) return "";
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const ratio = after / before;
  return ratio >= 3 ? times(ratio) : (ratio > 1 ? "+" : minus) + percent(Math.abs(ratio - 1));
}

/** Whether chance is known to make differences as large as this one. */
export const isChance = (difference: number, error: number): boolean => error > 0 && Math.abs(difference) <= error;

export type Order = "difference" | "relative" | "value";

/** @param groups whose differences are shown, by their numbers from 1
 *  @param sorted the group of these by whose differences rows are sorted */
export function contentOf(header: SideHeader, tree: SideTree, groups: number[], order: Order, sorted: number): TreeContent {
  const { unit } = header,
    [before] = tree.values,
    largest = (row: number): number => Math.max(...tree.values.map((v) => Math.abs(v[row]!))),
    differenceOf = (row: number, g: number): number => tree.values[g]![row]! - before![row]!;
  let whole = 0;
  tree.parent.forEach((p, row) => (whole = p < 0 && largest(row) > whole ? largest(row) : whole));

  const differenceCells = (row: number, g: number): string => {
    const more = differenceOf(row, g),
      error = tree.errors[g - 1]![row]!,
      chance = isChance(more, error),
      sign = chance || more === 0 ? "chance" : more > 0 ? "more" : "less",
      bracketed = (text: string): string => (chance && text ? `(${text})` : text);
    return (
      `<span class="c-difference ${sign}">${more === 0 ? "=" : bracketed(signed(more, unit))}</span>` +
      `<span class="c-relative ${sign}">${bracketed(relative(before![row]!, tree.values[g]![row]!))}</span>` +
      `<span class="c-error">${Number.isNaN(error) ? "± ?" : error > 0 ? "± " + quantity(error, unit) : ""}</span>`
    );
  };
  return {
    parent: tree.parent,
    inclusive: (row) => tree.values[sorted]![row]!,
    exclusive: (row) => tree.values[sorted]![row]!,
    whole: () => whole,
    name: (row) => shortName(tree.name(row)),
    side: (row) => tree.place(row),
    show: (v) => quantity(v, unit),
    hint: (row) =>
      [
        tree.fullName(row) || tree.name(row),
        ...(tree.place(row) ? [tree.place(row)] : []),
        ...header.groups.map((group, g) => {
          const value = `${group.name}: ${exactly(tree.values[g]![row]!, unit)}`;
          if (g === 0) return value;
          const more = differenceOf(row, g),
            error = tree.errors[g - 1]![row]!,
            text = `${value}, ${signed(more, unit)}`;
          return Number.isNaN(error)
            ? text + ", ± not known"
            : error > 0
              ? `${text} ± ${quantity(error, unit)}${isChance(more, error) ? ": within chance" : ""}`
              : text;
        }),
      ].join("\n"),
    rank: {
      difference: (row: number) => Math.abs(differenceOf(row, sorted)),
      relative: (row: number) => (before![row] === 0 ? Infinity : Math.abs(differenceOf(row, sorted) / before![row]!)),
      value: largest,
    }[order],
    columns: {
      head:
        header.groups
          .map(({ name }, g) => `<span class="c-value${g === 0 ? " first" : ""}" title="${escaped(name)}: mean over ranks">${escaped(name)}</span>`)
          .join("") +
        groups
          .map((g) => {
            const title = escaped(`${header.groups[g]!.name} less ${header.groups[0]!.name}`);
            return `<span class="c-difference" title="${title}">difference</span><span class="c-relative" title="${title}, relative">relative</span><span class="c-error" title="95 % interval of the difference; what lies within it may be chance">±</span>`;
          })
          .join(""),
      cells: (row) =>
        tree.values
          .map((values) => {
            const width = whole === 0 ? 0 : Math.min(100, (Math.abs(values[row]!) / whole) * 100);
            return `<span class="c-value"><span class="bar" style="width:${width.toFixed(1)}%"></span><span>${values[row] === 0 ? "" : quantity(values[row]!, unit)}</span></span>`;
          })
          .join("") + groups.map((g) => differenceCells(row, g)).join(""),
    },
  };
}

/** All rows, also those that are closed. */
export function csvOf(header: SideHeader, tree: SideTree): string {
  const later = header.groups.slice(1);
  const lines = [
    [
      "row",
      "below",
      "name",
      "place",
      ...header.groups.map(({ name }) => csvText(`${name} [${header.unit}]`)),
      ...later.flatMap(({ name }) => [csvText(`difference of ${name}`), csvText(`error of ${name}`)]),
    ].join(","),
  ];
  tree.parent.forEach((parent, row) =>
    lines.push(
      [
        row + 1,
        parent < 0 ? "" : parent + 1,
        csvText(tree.fullName(row) || tree.name(row)),
        csvText(tree.place(row)),
        ...tree.values.map((v) => v[row]!),
        ...later.flatMap((_, i) => {
          const error = tree.errors[i]![row]!;
          return [tree.values[i + 1]![row]! - tree.values[0]![row]!, Number.isNaN(error) ? "" : error];
        }),
      ].join(","),
    ),
  );
  return lines.join("\n") + "\n";
}
