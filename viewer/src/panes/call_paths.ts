// The tree of call paths, with its search and the hot path.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import { exactly, quantity, shortName } from "../format";
import type { Header } from "../header";
import { errorOfDifference, type SelectionProfile } from "../profile";
import type { Direction, Sorting, Store } from "../state";
import { Tree } from "../tree";
import type { TreeContent, TreeValues } from "../tree/content";

const nodeName = (nodes: Header["nodes"], n: number): string => (nodes.kind[n] === "inlined" ? "[inlined] " : "") + shortName(nodes.name[n]!);

/** A line about the difference of means, if there is something to compare with. */
function differenceHint(a: SelectionProfile, b: SelectionProfile | null, nodes: number[], own: boolean, show: (value: number) => string): string[] {
  if (!b) return [];
  const sum = (p: SelectionProfile): number => nodes.reduce((all, n) => all + (own ? p.exclusive : p.inclusive)[n]!, 0) / p.unit(),
    difference = sum(b) - sum(a),
    error = errorOfDifference(a, b, nodes, own);
  const quality =
    error === 0 ? "" : error === Infinity ? " (estimate)" : ` ± ${show(Math.round(error))}${Math.abs(difference) <= error ? ", within the error (95 %)" : ""}`;
  return [`B − A ${show(Math.round(difference))}${quality}`];
}

export class CallPathsPane {
  readonly tree = new Tree($("path-tree"), "Call paths");
  /** Functions with their callers. */
  readonly functions = new Tree($("function-tree"), "Functions and their callers");
  private readonly field = $<HTMLInputElement>("search");
  private readonly directionSelect = $<HTMLSelectElement>("direction");
  private readonly sortingSelect = $<HTMLSelectElement>("sorting");
  private comparison: Comparison | null = null;

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const { tree } = this;
    tree.onSelect = (node) => store.set({ node });
    this.functions.onSelect = (caller) => this.chooseCaller(caller);
    this.directionSelect.onchange = () => store.set({ direction: this.directionSelect.value as Direction });
    store.on(["direction"], () => this.turn());
    store.on(["caller"], () => this.functions.select(store.state.caller, true));
    this.field.oninput = () => this.search();
    this.field.onkeydown = (e) => {
      if (e.key !== "Enter" && e.key !== "Escape") return;
      e.preventDefault();
      if (e.key === "Enter") return this.findNext(e.shiftKey ? -1 : 1);
      this.field.value = "";
      this.search();
      document.querySelector<HTMLElement>(".tree:not([hidden]):is(#path-tree, #function-tree) .tree-scroll")?.focus();
    };
    $("find-next").onclick = () => this.findNext(1);
    $("hot").onclick = () => {
      const { caller } = store.state;
      if (this.isUp()) this.functions.hotPath(caller >= 0 && !this.functions.isOpen(caller) ? caller : -1);
      else tree.hotPath(store.state.node > 0 && !tree.isOpen(store.state.node) ? store.state.node : -1);
    };
    const showSorting = (): string => (this.sortingSelect.value = store.state.sorting);
    showSorting();
    this.sortingSelect.onchange = () => store.set({ sorting: this.sortingSelect.value as Sorting });
    store.on(["sorting"], showSorting);
    store.on(["node"], () => {
      tree.select(store.state.node, true);
      if (!document.activeElement?.closest("#path-tree")) tree.reveal(store.state.node);
      this.followNode();
    });
  }

  search(): void {
    this.shown().search(this.field.value);
    this.showFound();
  }
  private findNext(step: number): void {
    this.shown().next(step);
    this.showFound();
  }
  private showFound(): void {
    $("found").textContent = this.field.value.trim() ? this.shown().found() : "";
  }

  isUp(): boolean {
    return this.store.state.direction === "up";
  }
  shown(): Tree {
    return this.isUp() ? this.functions : this.tree;
  }

  show(comparison: Comparison): void {
    this.comparison = comparison;
    const { a, b } = comparison;
    this.tree.sorting = this.functions.sorting = this.store.state.sorting;
    this.tree.setContent(this.content(a, b));
    $("path-tree").hidden = this.isUp();
    $("function-tree").hidden = !this.isUp();
    this.directionSelect.value = this.store.state.direction;
    if (this.isUp()) this.functions.setContent(this.contentFromBelow(a, b));
  }

  /** Changes between the two trees. The other one shows what is selected. */
  private turn(): void {
    this.shown().search(""); // of what was searched in it before
    this.show(this.comparison!);
    this.search();
    if (this.isUp()) this.followNode();
    else this.tree.reveal(this.store.state.node);
    this.tree.paint();
  }

  private chooseCaller(caller: number): void {
    this.store.set({ caller, node: this.data.bottomUp().heaviest(caller, this.comparison!.a) });
  }

  /** A call path that was chosen elsewhere is one of a function. */
  private followNode(): void {
    const { caller, node } = this.store.state;
    if (!this.isUp()) return;
    const rows = this.data.bottomUp();
    if (node > 0 && !(caller >= 0 && rows.calls[caller]!.includes(node))) this.store.set({ caller: rows.functionOf[node]! });
    this.functions.select(this.store.state.caller, true);
    if (this.store.state.caller >= 0 && !document.activeElement?.closest("#function-tree")) this.functions.reveal(this.store.state.caller);
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
    this.followNode();
  }

  private contentFromBelow(a: SelectionProfile, b: SelectionProfile | null): TreeContent {
    const { nodes, metrics } = this.data.header,
      rows = this.data.bottomUp(),
      metric = metrics[a.parts.row]!;
    const valuesOf = (p: SelectionProfile): TreeValues => {
      const unit = b ? p.unit() : 1,
        own = rows.node.map((_, row) => rows.own(row, p) / unit);
      return { inclusive: (row) => own[row]!, exclusive: (row) => rows.inclusive(row, p) / unit };
    };
    const first = valuesOf(a),
      second = b ? valuesOf(b) : null,
      untold = [a.untold(), b?.untold() ?? 0];
    const show = (v: number): string => exactly(v, metric.unit);
    // Of the functions with samples the one after this one by value.
    let next: Map<number, number> | null = null;
    const nextOf = (row: number): number => {
      if (!next) {
        const order = rows.parent.flatMap((p, r) => (p < 0 && a.sampled.has(rows.calls[r]!, false) ? [r] : []));
        order.sort((x, y) => first.inclusive(y) - first.inclusive(x));
        next = new Map(order.map((r, i) => [r, order[i + 1] ?? -1]));
      }
      return next.get(row) ?? -1;
    };
    return {
      parent: rows.parent,
      ...first,
      ...(second ? { other: second } : {}),
      isBottomUp: true,
      shares: true,
      whole: () => a.inclusive[0]! / (b ? a.unit() : 1),
      imbalance: (row) => rows.imbalance(row, a),
      unknown: (row, ofOther) => untold[ofOther ? 1 : 0]! > 0 && (rows.node[row] === 0 ? metric.name !== "time" : b !== null),
      name: (row) => (rows.node[row] === 0 ? "(no call path)" : nodeName(nodes, rows.node[row]!)),
      side: (row) => nodes.place[rows.node[row]!]!,
      ...(b
        ? { errorOfDifference: (row: number) => errorOfDifference(a, b, rows.calls[row]!, true) }
        : a.sampled.isEmpty()
          ? {}
          : {
              error: (row: number, inclusive: boolean) => (inclusive ? a.errorOf(rows.outermost[row]!, false) : a.errorOf(rows.calls[row]!, true)),
              hasOpenOrder: (row: number) => {
                const next = nextOf(row);
                return next >= 0 && first.inclusive(row) - first.inclusive(next) <= a.sampled.errorOfDifference(rows.calls[row]!, rows.calls[next]!);
              },
            }),
      hint: (row) =>
        [
          nodes.name[rows.node[row]!],
          ...[nodes.file[rows.node[row]!], nodes.place[rows.node[row]!]].filter((text) => text),
          `own ${show(rows.own(row, a))}${a.quality(rows.calls[row]!, true, show)}`,
          `inclusive ${show(rows.inclusive(row, a))}${rows.node[row] === 0 ? "" : a.quality(rows.outermost[row]!, false, show)}`,
          ...differenceHint(a, b, rows.calls[row]!, true, show),
          ...(rows.cut ? ["some callers are left out: there are too many"] : []),
        ].join("\n"),
      show: (v) => quantity(v, metric.unit),
      hidden: (row) => first.inclusive(row) === 0 && (second?.inclusive(row) ?? 0) === 0,
    };
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
      ...(b
        ? { errorOfDifference: (n: number) => errorOfDifference(a, b, [n], false) }
        : a.sampled.isEmpty()
          ? {}
          : { error: (n: number, own: boolean) => a.errorOf([n], own) }),
      // The part of a call path that is known is shown, but not compared.
      unknown: (n, ofOther) => untold[ofOther ? 1 : 0]! > 0 && (n === 0 ? metric.name !== "time" : b !== null),
      name: (n) => nodeName(nodes, n),
      side: (n) => nodes.place[n]!,
      hint: (n) =>
        [
          nodes.name[n],
          ...[nodes.file[n], nodes.place[n]].filter((text) => text),
          `inclusive ${show(a.inclusive[n]!)}${a.quality([n], false, show)}`,
          `own ${show(a.exclusive[n]!)}${a.quality([n], true, show)}`,
          ...differenceHint(a, b, [n], false, show),
        ].join("\n"),
      show: (v) => quantity(v, metric.unit),
      hidden: (n) => n !== 0 && a.inclusive[n] === 0 && (b === null || b.inclusive[n] === 0),
    };
  }
}
