// The tree of hosts, ranks and threads, with the values of the call path that is selected.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import { exactly, quantity } from "../format";
import type { SelectionProfile } from "../profile";
import { hasLocation } from "../selection";
import type { Store } from "../state";
import { SystemNodes } from "../system";
import { Tree } from "../tree";
import type { TreeContent, TreeValues } from "../tree/content";

export class RanksPane {
  readonly tree = new Tree($("system-tree"), "Hosts, ranks and threads");
  readonly nodes: SystemNodes;
  private readonly selectButton = $<HTMLButtonElement>("b-rank");

  constructor(
    private data: Data,
    private store: Store,
    private comparison: Comparison,
  ) {
    this.nodes = new SystemNodes(data.header.locations);
    this.tree.onSelect = (n) => this.offer(n);
    store.on(["node", "caller", "direction"], () => this.show());
  }

  /** Offers to select the rank that was chosen; the first row selects all ranks. */
  offer(node: number): void {
    const { store } = this,
      rank = this.nodes.rank[node]!;
    if (node === 0) store.set({ a: { ...store.state.a, ranks: null } });
    if (rank < 0) return;
    this.selectButton.textContent = `Select rank ${rank}`;
    this.selectButton.hidden = false;
    this.selectButton.onclick = () => store.set({ a: { ...store.state.a, ranks: [rank, rank + 1], rest: false } });
  }

  show(): void {
    this.tree.sorting = this.store.state.sorting;
    this.tree.setContent(this.content(this.comparison.a, this.comparison.b));
  }

  showFirst(): void {
    this.tree.setOpen(this.data.header.job.ranks <= 128 ? [0, ...this.nodes.machine] : [0]);
  }

  private content(a: SelectionProfile, b: SelectionProfile | null): TreeContent {
    const { data, nodes } = this,
      { state } = this.store,
      metric = data.header.metrics[a.parts.row]!,
      caller = state.caller,
      rows = state.direction === "up" && caller >= 0 ? data.bottomUp() : null;
    const valuesOf = (p: SelectionProfile): TreeValues => {
      // Per location the mean iteration when two selections are compared.
      const scale = b ? p.locations / p.unit() : 1;
      const of = (source: Float64Array) => (l: number) => source[l * data.nodes + state.node]!;
      const [inclusive, exclusive] = [
        rows ? (l: number) => rows.ownAt(caller, p, l) : of(p.inclusiveBy),
        rows ? (l: number) => rows.inclusiveAt(caller, p, l) : of(p.byLocation),
      ].map((at) => nodes.summed((l) => at(l) * scale)) as [number[], number[]];
      return { inclusive: (n) => inclusive[n]!, exclusive: (n) => exclusive[n]! };
    };
    const first = valuesOf(a),
      isAllTime = !rows && state.node === 0 && metric.name === "time";
    const untold = [a, b].map((p) => nodes.summed((l) => p?.untoldBy[l] ?? 0));
    const shown = nodes.summed((l) => (hasLocation(data, a.selection, l) || (b !== null && hasLocation(data, b.selection, l)) ? 1 : 0));
    const largest = nodes.location.reduce((most, l, n) => (l < 0 ? most : Math.max(most, first.inclusive(n))), 1);
    const selected = rows ? rows.calls[caller]! : [state.node],
      { bound } = a.errorsOf(selected, rows !== null);
    const quality = (n: number): string => {
      const l = nodes.location[n]!,
        sampling = l < 0 && n !== 0 ? 0 : a.sampled.error(selected, rows === null, l);
      if (bound === Infinity) return " (estimate)";
      return [sampling && ` ± ${exactly(sampling, metric.unit)}`, bound && ` (± ${exactly(bound, metric.unit)} over all)`].filter((text) => text).join("");
    };
    return {
      parent: nodes.parent,
      ...first,
      isBottomUp: rows !== null,
      ...(b ? { other: valuesOf(b) } : {}),
      ...(b || bound === Infinity || a.sampled.isEmpty()
        ? {}
        : { error: (n: number) => (nodes.location[n]! < 0 && n !== 0 ? 0 : a.sampled.error(selected, rows === null, nodes.location[n]!)) }),
      // A bar is as long as the largest rank's is wide, so that ranks can be compared.
      whole: (n) => (nodes.location[n]! >= 0 ? largest : first.inclusive(0)),
      name: (n) => nodes.name[n]!,
      show: (v) => quantity(v, metric.unit),
      unknown: (n, ofOther) => !isAllTime && untold[ofOther ? 1 : 0]![n]! > 0,
      hint: (n) => `${nodes.name[n]}${nodes.hint[n] ? "\n" + nodes.hint[n] : ""}\n${exactly(first.inclusive(n), metric.unit)}${b ? "" : quality(n)}`,
      hidden: (n) => shown[n] === 0,
    };
  }
}
