// The tree of metrics. A metric that is selected is what the other trees and, if it has one, the value map show.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import { exactly, quantity } from "../format";
import type { SelectionProfile } from "../profile";
import type { Store } from "../state";
import { Tree } from "../tree";
import type { TreeContent, TreeValues } from "../tree/content";
import type { IterationsPane } from "./iterations";

export class MetricsPane {
  readonly tree = new Tree($("metric-tree"), "Metrics");
  private readonly parent: number[];

  constructor(
    private data: Data,
    private store: Store,
    private iterations: IterationsPane,
  ) {
    this.parent = data.header.metrics.map((m) => m.parent);
    this.tree.onSelect = (row) => void this.choose(row);
    store.on(["row"], () => this.tree.select(store.state.row, true));
  }

  private async choose(row: number): Promise<void> {
    const { data, store } = this,
      name = data.header.metrics[row]!.name;
    store.set({ row });
    const phase = store.state.phase;
    if (phase < 0) return;
    if (row === 0) return store.set({ map: data.header.phases[phase]!.maps![0]!.name });
    const isElsewhere = data.header.served && data.header.phases[phase]!.left_out?.some((m) => m.name === name);
    if (isElsewhere && (!(await this.iterations.obtain(name)) || store.state.row !== row)) return;
    if (data.map(store.state.phase, name)) store.set({ map: name });
  }

  show({ a, b }: Comparison): void {
    this.tree.setContent(this.content(a, b));
  }

  showFirst(): void {
    const rows = ["time", "execution", "mpi", "mpi_communication", "bytes"];
    this.tree.setOpen(rows.map((name) => this.data.header.metrics.findIndex((m) => m.name === name)));
    this.tree.select(this.store.state.row, true);
  }

  private values(p: SelectionProfile, unit: number): TreeValues {
    const inclusive = this.parent.map((_, row) => p.total(row)),
      own = inclusive.slice();
    this.parent.forEach((parent, row) => {
      if (parent >= 0) own[parent]! -= inclusive[row]!;
    });
    for (let row = 0; row < own.length; ++row) {
      if (Math.abs(own[row]!) < 1e-9 * inclusive[row]!) own[row] = 0; // estimates are not whole numbers: this is rounding
      own[row]! /= unit;
      inclusive[row]! /= unit;
    }
    return { inclusive: (n) => inclusive[n]!, exclusive: (n) => own[n]! };
  }

  private content(a: SelectionProfile, b: SelectionProfile | null): TreeContent {
    const { metrics } = this.data.header,
      { parent } = this;
    const first = this.values(a, b ? a.unit() : 1),
      second = b ? this.values(b, b.unit()) : undefined;
    const untold = [a.untold(), b?.untold() ?? 0];
    return {
      parent,
      ...first,
      ...(second ? { other: second } : {}),
      fixedOrder: true,
      unknown: (n, ofOther) => untold[ofOther ? 1 : 0]! > 0 && metrics[n]!.name !== "time",
      // The parent says that it is MPI.
      name: (n) => (metrics[parent[n]!]?.label.startsWith("MPI") ? metrics[n]!.label.replace(/^MPI /, "") : metrics[n]!.label),
      hint: (n) => `${metrics[n]!.label}: ${metrics[n]!.description}\n${exactly(first.inclusive(n), metrics[n]!.unit)}`,
      whole: (n) => {
        let top = n;
        while (parent[top]! >= 0) top = parent[top]!;
        return first.inclusive(top);
      },
      show: (v, n) => quantity(v, metrics[n]!.unit),
      hidden: (n) => first.inclusive(n) === 0 && (second?.inclusive(n) ?? 0) === 0,
    };
  }
}
