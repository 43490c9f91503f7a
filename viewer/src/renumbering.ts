// The numbers of one state of a job as those of a later one: phases, call paths and ranks are known by their names.
import type { Data } from "./data";
import { isRange, type Selection } from "./selection";
import { SystemNodes } from "./system";

interface Forest {
  parent: ArrayLike<number>;
  /** What tells a node from the others with its parent; the second one where no other has the first. */
  names: (node: number) => [string, string];
}

/** By node of the old forest: the same node of the new one, -1 if there is none. Parents come before their children. */
function matched(old: Forest, fresh: Forest): Int32Array {
  const known = new Map<string, number>(),
    out = new Int32Array(old.parent.length).fill(-1);
  for (let n = 0; n < fresh.parent.length; ++n)
    for (const name of fresh.names(n)) {
      const key = `${fresh.parent[n]} ${name}`;
      if (!known.has(key)) known.set(key, n);
    }
  for (let n = 0; n < out.length; ++n) {
    const above = old.parent[n]!,
      parent = above < 0 ? above : out[above]!;
    if (above >= 0 && parent < 0) continue;
    const [exact, near] = old.names(n);
    out[n] = known.get(`${parent} ${exact}`) ?? known.get(`${parent} ${near}`) ?? -1;
  }
  return out;
}

function pathsOf({ header }: Data): Forest {
  const { parent, kind, name, place } = header.nodes;
  return { parent, names: (n) => [`${kind[n]} ${name[n]} (${place[n]})`, `${kind[n]} ${name[n]}`] };
}

function rowsOf(data: Data): Forest {
  const { parent, node } = data.bottomUp(),
    { names } = pathsOf(data);
  return { parent, names: (row) => (node[row] === 0 ? ["", ""] : names(node[row]!)) };
}

function systemOf({ header }: Data): Forest {
  const { parent, name } = new SystemNodes(header.locations);
  return { parent, names: (n) => [name[n]!, name[n]!] };
}

export class Renumbering {
  constructor(
    private old: Data,
    private fresh: Data,
  ) {}

  private made<T>(make: () => T): () => T {
    let value: T | undefined;
    return () => (value ??= make());
  }
  private readonly pathsMade = this.made(() => matched(pathsOf(this.old), pathsOf(this.fresh)));
  private readonly rowsMade = this.made(() => matched(rowsOf(this.old), rowsOf(this.fresh)));
  private readonly systemMade = this.made(() => matched(systemOf(this.old), systemOf(this.fresh)));

  /** By call path. */
  get paths(): Int32Array {
    return this.pathsMade();
  }
  /** By row of functions and their callers. */
  get rows(): Int32Array {
    return this.rowsMade();
  }
  /** By node of the system. */
  get system(): Int32Array {
    return this.systemMade();
  }

  phase(p: number): number {
    if (p < 0) return p;
    const { name, kind } = this.old.header.phases[p]!;
    return this.fresh.header.phases.findIndex((one) => one.name === name && one.kind === kind);
  }

  metric(row: number): number {
    return this.fresh.header.metrics.findIndex((m) => m.name === this.old.header.metrics[row]!.name);
  }

  /** The call path, or the nearest one above it that is still there. */
  nearestPath(node: number): number {
    let n = node;
    while (n > 0 && this.paths[n]! < 0) n = this.old.header.nodes.parent[n]!;
    return n > 0 ? this.paths[n]! : 0;
  }

  /** Null if its phase is not there any more. */
  selection(s: Selection): Selection | null {
    const phase = this.phase(s.phase);
    if (s.phase >= 0 && phase < 0) return null;
    return { ...s, phase, ...(s.phase < 0 || isRange(this.old, s) ? {} : { from: 0, to: this.fresh.header.phases[phase]!.iterations ?? 0 }) };
  }

  cause(c: number): number {
    const one = this.old.header.causes.list[c]!,
      { list } = this.fresh.header.causes,
      phase = this.phase(one.phase);
    const isSame = (k: number): boolean => list[k]!.kind === one.kind && list[k]!.function === one.function && list[k]!.phase === phase,
      same = list.map((_, k) => k).filter(isSame);
    return same.find((k) => String(list[k]!.ranks) === String(one.ranks)) ?? same[0] ?? -1;
  }
}
