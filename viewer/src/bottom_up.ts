// The call tree from below: functions, merged over all call paths, with their callers, and theirs. A row stands for the nodes that are calls of
// one function by one chain of callers. Its own value is the sum of theirs; its inclusive value counts only the outermost of them, so that a
// recursive function has its time once. It is the same as `libprofile report --bottom-up`.
import type { Data } from "./data";
import type { SelectionProfile } from "./profile";
import { hasLocation } from "./selection";

const mostRows = 100_000, // of all callers of all functions there may be the product of two large numbers
  deepest = 100;

export class BottomUp {
  /** The row that a row calls, -1 for functions. */
  readonly parent: number[] = [];
  /** A node that gives the row its name. */
  readonly node: number[] = [];
  /** Nodes whose own values are those of the row. */
  readonly calls: number[][] = [];
  /** Those of them that are below no other one of them. */
  readonly outermost: number[][] = [];
  /** The row of each node's function. */
  readonly functionOf: number[];
  /** Some callers are left out. */
  readonly cut: boolean = false;

  constructor(data: Data) {
    const { parent, kind, name } = data.header.nodes,
      count = parent.length;
    // Functions have numbers; `first` and `end` are the places of what is below a node.
    const numbers = new Map<string, number>(),
      number = parent.map((p, n) => {
        const key = `${p < 0 ? "" : kind[n]} ${name[n]}`;
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        return numbers.get(key)!;
      }),
      size = new Uint32Array(count).fill(1),
      first = new Uint32Array(count),
      next = new Uint32Array(count).fill(1);
    for (let n = count - 1; n > 0; --n) size[parent[n]!]! += size[n]!;
    for (let n = 1; n < count; ++n) {
      const p = parent[n]!;
      first[n] = first[p]! + next[p]!;
      next[p]! += size[n]!;
    }
    const order = Array.from(parent, (_, n) => n).sort((a, b) => first[a]! - first[b]!);
    // Of each call the node of the row's own function above it.
    const at: number[][] = [],
      depth: number[] = [];
    const add = (called: number, calls: number[], above: number[]): void => {
      this.parent.push(called);
      this.node.push(above[0]!);
      this.calls.push(calls);
      at.push(above);
      depth.push(called < 0 ? 0 : depth[called]! + 1);
      let end = 0;
      this.outermost.push(
        calls.filter((n) => {
          if (n !== 0 && first[n]! < end) return false;
          if (n !== 0) end = first[n]! + size[n]!;
          return true;
        }),
      );
    };
    const functions = new Map<number, number[]>();
    for (const n of order) {
      const list = functions.get(number[n]!);
      if (list) list.push(n);
      else functions.set(number[n]!, [n]);
    }
    this.functionOf = new Array<number>(count).fill(-1);
    for (const nodes of functions.values()) {
      for (const n of nodes) this.functionOf[n] = this.parent.length;
      add(-1, nodes, nodes);
    }
    for (let row = 0; row < this.parent.length; ++row) {
      const callers = new Map<number, [number[], number[]]>();
      this.calls[row]!.forEach((n, i) => {
        const above = parent[at[row]![i]!]!;
        if (above <= 0) return;
        const found = callers.get(number[above]!) ?? [[], []];
        found[0].push(n);
        found[1].push(above);
        callers.set(number[above]!, found);
      });
      if (callers.size > 0 && (depth[row] === deepest || this.parent.length + callers.size > mostRows)) this.cut = true;
      else for (const [calls, above] of callers.values()) add(row, calls, above);
    }
  }

  private sum(nodes: number[], values: Float64Array, base = 0): number {
    let sum = 0;
    for (const n of nodes) sum += values[base + n]!;
    return sum;
  }

  own(row: number, p: SelectionProfile): number {
    return this.sum(this.calls[row]!, p.exclusive);
  }
  /** With what is called. What has no call path is called by nobody and calls nothing. */
  inclusive(row: number, p: SelectionProfile): number {
    return this.node[row] === 0 ? p.exclusive[0]! : this.sum(this.outermost[row]!, p.inclusive);
  }
  /** The same at a location. */
  ownAt(row: number, p: SelectionProfile, l: number): number {
    return this.sum(this.calls[row]!, p.byLocation, l * p.data.nodes);
  }
  inclusiveAt(row: number, p: SelectionProfile, l: number): number {
    const base = l * p.data.nodes;
    return this.node[row] === 0 ? p.byLocation[base]! : this.sum(this.outermost[row]!, p.inclusiveBy, base);
  }

  /** How much more own value the largest rank has than the mean: max / mean - 1, 0 if balanced. */
  imbalance(row: number, p: SelectionProfile): number {
    let sum = 0,
      most = 0,
      n = 0;
    for (const l of p.data.mainOfRank) {
      if (l < 0 || !hasLocation(p.data, p.selection, l)) continue;
      const own = this.ownAt(row, p, l);
      sum += own;
      most = Math.max(most, own);
      ++n;
    }
    return sum === 0 ? 0 : most / (sum / n) - 1;
  }

  /** The node of a row with most of its own value. */
  heaviest(row: number, p: SelectionProfile): number {
    return this.calls[row]!.reduce((best, n) => (p.exclusive[n]! > p.exclusive[best]! ? n : best), this.calls[row]![0]!);
  }
}
