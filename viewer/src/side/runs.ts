// Several runs side by side: what the page has of them, decoded.
import { seriesOf } from "../columns";
import type { OverTimeHeader } from "../over_time/header";

export interface SideHeader {
  metric: string;
  unit: string;
  scale: number; // values are whole numbers of 1 / scale
  groups: { name: string; runs: string[] }[]; // the baseline first
  heads: { head: string; lines: { amount: string; use: string; text: string }[]; remarks: string[] }[]; // of all groups but the first
  remarks: string[];
  over_time: OverTimeHeader;
  texts: string[];
  /** Fields are about columns, texts are numbers in `texts`. Values are by group, errors by group from the second one on. */
  trees: { name: string; parents: number; names: number; full_names: number; places: number; values: number[]; errors: number[]; left_out: string }[];
}

export interface SideTree {
  parent: Float64Array; // -1 at the top
  name(row: number): string;
  fullName(row: number): string;
  place(row: number): string;
  values: Float64Array[]; // by group
  /** By group from the second one on, of its difference to the first: half of the 95 % interval; 0: nothing speaks for one; NaN: unknown. */
  errors: Float64Array[];
  leftOut: string; // a sentence
}

export async function treesOf(header: SideHeader): Promise<Record<string, SideTree>> {
  const trees: Record<string, SideTree> = {};
  for (const tree of header.trees) {
    const [parent, names, fullNames, places] = await Promise.all([tree.parents, tree.names, tree.full_names, tree.places].map(seriesOf)),
      values = await Promise.all(tree.values.map(seriesOf)),
      errors = await Promise.all(tree.errors.map(seriesOf));
    trees[tree.name] = {
      parent: parent!,
      name: (row) => header.texts[names![row]!]!,
      fullName: (row) => header.texts[fullNames![row]!]!,
      place: (row) => header.texts[places![row]!]!,
      values: values.map((column) => column.map((v) => v / header.scale)),
      errors: errors.map((column) => column.map((coded) => (coded === 0 ? NaN : (coded - 1) / header.scale))),
      leftOut: tree.left_out,
    };
  }
  return trees;
}
