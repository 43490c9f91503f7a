// The contexts of the strip: what of them is seen at a depth, and in which colour.
import { numbersByName } from "../columns";
import { pixel } from "../color";
import type { StripHeader } from "../header";

type Rgb = [number, number, number];
const rgb = (text: string): Rgb[] => text.split(" ").map((code) => [0, 2, 4].map((at) => parseInt(code.slice(at, at + 2), 16)) as Rgb);
/** Of significant call paths, the weightiest first. Okabe and Ito's colours and shades of them. */
export const classColors = {
  computation: rgb("0072b2 56b4e9 17406d a8d0ef 3c8dbf"),
  wait: rgb("d55e00 e69f00 f0c05a a84a00 f4a582"),
  synchronisation: rgb("8e4a9e cc79a7 5e3c99 dba8c8 b07cc6"),
};
const others = { computation: rgb("d3d8de 454c55"), mpi: rgb("a9b1ba 69727d") };
export const otherColor = (inMpi: boolean): Rgb => others[inMpi ? "mpi" : "computation"][document.documentElement.dataset.theme === "dark" ? 1 : 0]!;

export class StripContexts {
  /** By row, the context of each point plus 1. */
  readonly rows: Uint32Array[];
  private readonly level: number[] = [];
  /** Depths that the strip has; at 0 it is what main is in. */
  readonly deepest: number;
  /** By context: position of the innermost significant one that it lies in, or is; -1. */
  readonly significantOf: number[] = [];
  private readonly shade: number[];

  constructor(
    readonly header: StripHeader,
    contexts: Float64Array,
    lengths: Float64Array,
  ) {
    const { tree, significant, spans, points } = header;
    let at = 0;
    this.rows = spans.map((count) => {
      const row = new Uint32Array(points);
      for (let i = 0, point = 0; i < count; ++i, ++at) row.fill(contexts[at]!, point, (point += lengths[at]!));
      return row;
    });
    const position = new Map(significant.map((s, i) => [s.context, i]));
    tree.parent.forEach((parent, c) => {
      this.level.push(parent < 0 ? 0 : this.level[parent]! + 1);
      this.significantOf.push(position.get(c) ?? (parent < 0 ? -1 : this.significantOf[parent]!));
    });
    this.deepest = this.level.reduce((most, level) => Math.max(most, level), 0) - this.level[header.top]!;
    const used = { computation: 0, wait: 0, synchronisation: 0 };
    this.shade = significant.map((s) => used[tree.class[s.context]!]++);
  }

  /** What is seen of a context at a depth; at depth -1 the significant call path that it is in. */
  shown(context: number, depth: number): number {
    const { tree, significant, top } = this.header;
    if (depth < 0) {
      const at = this.significantOf[context]!;
      return at < 0 ? context : significant[at]!.context;
    }
    const level = this.level[top]! + depth;
    while (this.level[context]! > level) context = tree.parent[context]!;
    return context;
  }

  color(shown: number): Rgb {
    const { tree } = this.header,
      at = this.significantOf[shown]!,
      own = tree.class[shown]!;
    if (at < 0) return otherColor(own !== "computation");
    const list = classColors[own !== "computation" ? own : tree.class[this.header.significant[at]!.context]!];
    return list[Math.min(this.shade[at]!, list.length - 1)]!;
  }

  /** Pixels by the numbers of spans. */
  pixels(depth: number): Uint32Array {
    return Uint32Array.from([0, ...this.header.tree.parent.map((_, c) => pixel(this.color(this.shown(c, depth))))]);
  }

  /** A loop with the function that it is in. */
  shortName(context: number): string {
    const { tree } = this.header,
      names: string[] = [];
    for (let c = context; c > 0; c = tree.parent[c]!) {
      names.unshift(tree.name[c]!);
      if (!tree.name[c]!.startsWith("loop ")) break;
    }
    return names.length > 2 ? `${names[0]} › … › ${names.at(-1)}` : names.join(" › ");
  }

  /** From the outermost function inwards. */
  path(context: number): string[] {
    const { tree, top } = this.header,
      names: string[] = [];
    for (let c = context; c > 0 && this.level[c]! > (top > 0 ? this.level[top]! : 0); c = tree.parent[c]!) names.unshift(tree.name[c]!);
    return names.length > 0 ? names : [tree.name[context]!];
  }
}

export async function readContexts(header: StripHeader): Promise<StripContexts> {
  const { contexts, lengths } = await numbersByName(header, ["contexts", "lengths"]);
  return new StripContexts(header, contexts, lengths);
}
