// The tree of call paths, with its search and the hot path.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import { exactly, quantity, shortName } from "../format";
import type { SelectionProfile } from "../profile";
import type { Sorting, Store } from "../state";
import { Tree } from "../tree";
import type { TreeContent, TreeValues } from "../tree/content";

const search = $<HTMLInputElement>("search"),
  sortingSelect = $<HTMLSelectElement>("sorting");

export class CallPathsPane {
  readonly tree = new Tree($("path-tree"), "Call paths");

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const { tree } = this;
    tree.onSelect = (node) => store.set({ node });
    search.oninput = () => this.search();
    search.onkeydown = (e) => {
      if (e.key !== "Enter" && e.key !== "Escape") return;
      e.preventDefault();
      if (e.key === "Enter") return this.findNext(e.shiftKey ? -1 : 1);
      search.value = "";
      this.search();
      document.querySelector<HTMLElement>("#path-tree .tree-scroll")?.focus();
    };
    $("find-next").onclick = () => this.findNext(1);
    $("hot").onclick = () => tree.hotPath(store.state.node > 0 && !tree.isOpen(store.state.node) ? store.state.node : -1);
    const showSorting = (): string => (sortingSelect.value = store.state.sorting);
    showSorting();
    sortingSelect.onchange = () => store.set({ sorting: sortingSelect.value as Sorting });
    store.on(["sorting"], showSorting);
    store.on(["node"], () => {
      tree.select(store.state.node, true);
      if (!document.activeElement?.closest("#path-tree")) tree.reveal(store.state.node);
    });
  }

  private search(): void {
    this.tree.search(search.value);
    this.showFound();
  }
  private findNext(step: number): void {
    this.tree.next(step);
    this.showFound();
  }
  private showFound(): void {
    $("found").textContent = search.value.trim() ? this.tree.found() : "";
  }

  show({ a, b }: Comparison): void {
    this.tree.sorting = this.store.state.sorting;
    this.tree.setContent(this.content(a, b));
  }

  /** Opens the largest child repeatedly, as long as it has at least half of its parent. */
  showFirst({ a }: Comparison): void {
    const open = new Set<number>();
    let node = 0;
    for (let depth = 0; depth < 40; ++depth) {
      open.add(node);
      let next = -1;
      this.data.header.nodes.parent.forEach((p, n) => {
        if (p === node && (next < 0 || a.inclusive[n]! > a.inclusive[next]!)) next = n;
      });
      if (next < 0 || a.inclusive[next]! < 0.5 * a.inclusive[node]!) break;
      node = next;
    }
    this.tree.setOpen(open);
    if (this.store.state.node > 0) this.tree.reveal(this.store.state.node);
    this.tree.select(this.store.state.node, true);
  }

  private content(a: SelectionProfile, b: SelectionProfile | null): TreeContent {
    const { nodes, metrics } = this.data.header,
      metric = metrics[a.parts.row]!;
    const valuesOf = (p: SelectionProfile): TreeValues => {
      const unit = b ? p.unit() : 1;
      return { inclusive: (n) => p.inclusive[n]! / unit, exclusive: (n) => p.exclusive[n]! / unit };
    };
    const first = valuesOf(a),
      untold = [a.untold(), b?.untold() ?? 0];
    const show = (v: number): string => exactly(v, metric.unit);
    return {
      parent: nodes.parent,
      ...first,
      ...(b ? { other: valuesOf(b) } : {}),
      shares: true,
      whole: () => first.inclusive(0),
      imbalance: (n) => a.imbalance(n),
      // The part of a call path that is known is shown, but not compared.
      unknown: (n, ofOther) => untold[ofOther ? 1 : 0]! > 0 && (n === 0 ? metric.name !== "time" : b !== null),
      name: (n) => (nodes.kind[n] === "inlined" ? "[inlined] " : "") + shortName(nodes.name[n]!),
      side: (n) => nodes.place[n]!,
      hint: (n) =>
        [
          nodes.name[n],
          ...[nodes.file[n], nodes.place[n]].filter((text) => text),
          `inclusive ${show(a.inclusive[n]!)}${a.quality(n, false, show)}`,
          `own ${show(a.exclusive[n]!)}${a.quality(n, true, show)}`,
        ].join("\n"),
      show: (v) => quantity(v, metric.unit),
      hidden: (n) => n !== 0 && a.inclusive[n] === 0 && (b === null || b.inclusive[n] === 0),
    };
  }
}
