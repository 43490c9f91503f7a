// One of the three trees. Only the rows that can be seen are in the document: a hundred thousand rows cost as much as thirty.
// A closed node shows its inclusive value, an open one its exclusive value, as in Cube.
import { csvOf } from "./tree/csv";
import type { TreeContent } from "./tree/content";
import { headHtml, rowHtml } from "./tree/rows";

const rowHeight = 22;

export class Tree {
  private content: TreeContent | null = null;
  private children: number[][] = [];
  private tops: number[] = [];
  private open = new Set<number>();
  private rows: { node: number; depth: number }[] = [];
  selected = -1;
  private matches: Set<number> | null = null;
  private at = -1; // index of the match that was selected last
  private shownBefore: Set<number> | null = null; // what was open before a search
  private readonly scroller: HTMLElement;
  private readonly inner: HTMLElement;
  private readonly head: HTMLElement;
  sorting: "value" | "name" | "imbalance" = "value";
  onSelect: (node: number) => void = () => {};
  onOpen: (node: number) => void = () => {};

  constructor(
    private host: HTMLElement,
    label: string,
  ) {
    host.classList.add("tree");
    this.head = document.createElement("div");
    this.head.className = "tree-head";
    this.scroller = document.createElement("div");
    this.scroller.className = "tree-scroll";
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "tree");
    this.scroller.setAttribute("aria-label", label);
    this.inner = document.createElement("div");
    this.inner.className = "tree-inner";
    this.scroller.append(this.inner);
    host.append(this.head, this.scroller);
    let waiting = false;
    this.scroller.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.paint();
      });
    });
    new ResizeObserver(() => this.paint()).observe(this.scroller);
    this.inner.addEventListener("click", (e) => {
      const row = (e.target as HTMLElement).closest<HTMLElement>(".row");
      if (!row) return;
      const node = Number(row.dataset.node);
      if ((e.target as HTMLElement).classList.contains("twist")) this.toggle(node);
      else this.select(node);
    });
    this.inner.addEventListener("dblclick", (e) => {
      const row = (e.target as HTMLElement).closest<HTMLElement>(".row");
      if (row && !(e.target as HTMLElement).classList.contains("twist")) this.toggle(Number(row.dataset.node));
    });
    this.scroller.addEventListener("keydown", (e) => this.key(e));
  }

  setContent(content: TreeContent): void {
    const fresh = this.content === null || this.content.parent !== content.parent;
    this.content = content;
    if (fresh) {
      const n = content.parent.length;
      this.children = Array.from({ length: n }, () => []);
      this.tops = [];
      for (let i = 0; i < n; ++i) (content.parent[i]! < 0 ? this.tops : this.children[content.parent[i]!]!).push(i);
    }
    this.rebuild();
  }

  setOpen(nodes: Iterable<number>): void {
    this.open = new Set(nodes);
    this.rebuild();
  }

  /** What is open, apart from what a search opened. */
  opened(): ReadonlySet<number> {
    return this.shownBefore ?? this.open;
  }

  /** Where a row is that can be seen: the one that is selected, or else the first one. */
  anchor(): { node: number; top: number } | null {
    const place = (i: number): number => i * rowHeight - this.scroller.scrollTop,
      selected = this.rows.findIndex((row) => row.node === this.selected),
      isSeen = selected >= 0 && place(selected) >= 0 && place(selected) < this.scroller.clientHeight,
      i = isSeen ? selected : Math.ceil(this.scroller.scrollTop / rowHeight);
    return this.rows[i] ? { node: this.rows[i].node, top: place(i) } : null;
  }

  /** Scrolls so that a row is there. */
  putAt({ node, top }: { node: number; top: number }): void {
    const at = this.rows.findIndex((row) => row.node === node);
    if (at < 0) return;
    this.scroller.scrollTop = at * rowHeight - top;
    this.paint();
  }

  select(node: number, quietly = false): void {
    const changed = this.selected !== node;
    this.selected = node;
    if (!quietly && changed) this.onSelect(node);
    this.stale ||= changed;
    this.paint();
  }

  reveal(node: number): void {
    for (let n = this.content!.parent[node]!; n >= 0; n = this.content!.parent[n]!) this.open.add(n);
    this.rebuild();
    this.scrollTo(node);
  }

  private scrollTo(node: number): void {
    const at = this.rows.findIndex((r) => r.node === node);
    if (at < 0) return;
    const top = at * rowHeight,
      view = this.scroller.clientHeight;
    if (top < this.scroller.scrollTop || top + rowHeight > this.scroller.scrollTop + view) this.scroller.scrollTop = Math.max(0, top - view / 2);
    this.paint();
  }

  /** Opens the largest child repeatedly, as long as it has at least half of its parent, and selects the last one. */
  hotPath(from = -1): void {
    const c = this.content!;
    let node = from >= 0 ? from : (this.sorted(this.tops)[0] ?? -1);
    if (node < 0) return;
    for (;;) {
      const next = this.children[node]!.reduce((best, child) => (best < 0 || c.inclusive(child) > c.inclusive(best) ? child : best), -1);
      if (next < 0 || c.inclusive(next) < 0.5 * c.inclusive(node) || c.inclusive(next) === 0) break;
      this.open.add(node);
      node = next;
    }
    this.rebuild();
    this.select(node);
    this.scrollTo(node);
  }

  search(text: string): number {
    const c = this.content!,
      wanted = text.trim().toLowerCase();
    this.at = -1;
    if (wanted === "") {
      this.matches = null;
      if (this.shownBefore) {
        this.open = this.shownBefore;
        this.shownBefore = null;
      }
      this.rebuild();
      return 0;
    }
    this.shownBefore ??= new Set(this.open);
    this.open = new Set(this.shownBefore);
    this.matches = new Set();
    for (let n = 0; n < c.parent.length; ++n)
      if (!c.hidden?.(n) && (c.name(n) + " " + (c.side?.(n) ?? "")).toLowerCase().includes(wanted)) {
        this.matches.add(n);
        for (let p = c.parent[n]!; p >= 0; p = c.parent[p]!) this.open.add(p);
      }
    this.rebuild();
    const first = this.rows.find((r) => this.matches!.has(r.node));
    if (first) this.scrollTo(first.node);
    return this.matches.size;
  }

  /** Selects the next (1) or the previous (-1) match. */
  next(step: number): void {
    const list = this.rows.filter((r) => this.matches?.has(r.node));
    if (list.length === 0) return;
    this.at = (this.at + step + list.length) % list.length;
    this.select(list[this.at]!.node);
    this.scrollTo(list[this.at]!.node);
  }

  found(): string {
    return this.matches ? (this.matches.size === 0 ? "none" : this.at < 0 ? `${this.matches.size} found` : `${this.at + 1} of ${this.matches.size}`) : "";
  }

  toggle(node: number): void {
    if (this.children[node]!.length === 0) return;
    this.open.has(node) ? this.open.delete(node) : this.open.add(node);
    this.rebuild();
    this.onOpen(node);
  }

  isOpen(node: number): boolean {
    return this.open.has(node);
  }

  private sorted(list: number[]): number[] {
    const c = this.content!;
    const seen = list.filter((n) => !c.hidden?.(n));
    if (this.sorting === "name") return seen.sort((a, b) => c.name(a).localeCompare(c.name(b), undefined, { numeric: true }));
    if (c.fixedOrder) return seen;
    if (c.rank) return seen.sort((a, b) => c.rank!(b) - c.rank!(a) || a - b);
    if (this.sorting === "imbalance" && c.imbalance) return seen.sort((a, b) => c.imbalance!(b) * c.inclusive(b) - c.imbalance!(a) * c.inclusive(a));
    if (c.other) return seen.sort((a, b) => Math.max(c.inclusive(b), c.other!.inclusive(b)) - Math.max(c.inclusive(a), c.other!.inclusive(a)));
    return seen.sort((a, b) => c.inclusive(b) - c.inclusive(a));
  }

  /** Visits nodes in the order of the rows, and the children of nodes for which `visit` returns true. It does not recurse: call paths may be
   *  deeper than the stack. */
  private walk(visit: (node: number, depth: number) => boolean): void {
    const left = this.sorted(this.tops)
      .reverse()
      .map((node) => ({ node, depth: 0 }));
    for (let next = left.pop(); next !== undefined; next = left.pop())
      if (visit(next.node, next.depth)) for (const node of this.sorted(this.children[next.node]!).reverse()) left.push({ node, depth: next.depth + 1 });
  }

  rebuild(): void {
    if (!this.content) return;
    this.rows = [];
    this.walk((node, depth) => {
      this.rows.push({ node, depth });
      return this.open.has(node);
    });
    this.stale = true;
    this.inner.style.height = this.rows.length * rowHeight + "px";
    this.host.classList.toggle("compare", !!this.content.other);
    this.head.innerHTML = headHtml(this.content);
    this.paint();
  }

  paint(): void {
    const c = this.content;
    if (!c) return;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroller.clientHeight / rowHeight) + 8);
    if (this.stale) {
      this.stale = false;
      this.inner.textContent = "";
      this.elements.clear();
    }
    // Rows that are there stay: scrolling makes few new ones.
    for (const [i, element] of this.elements)
      if (i < first || i >= last) {
        element.remove();
        this.elements.delete(i);
      }
    const there = [...this.elements.keys()],
      above = there.length ? Math.min(...there) : last,
      below = there.length ? Math.max(...there) + 1 : last;
    this.insert(first, above, "afterbegin");
    this.insert(below, last, "beforeend");
  }
  private stale = true;
  private elements = new Map<number, Element>();

  private insert(from: number, to: number, where: "afterbegin" | "beforeend"): void {
    if (from >= to) return;
    this.inner.insertAdjacentHTML(where, this.html(from, to));
    const start = where === "afterbegin" ? 0 : this.inner.children.length - (to - from);
    for (let i = from; i < to; ++i) this.elements.set(i, this.inner.children[start + i - from]!);
  }

  private html(first: number, last: number): string {
    const c = this.content!;
    let html = "";
    for (let i = first; i < last; ++i) {
      const { node, depth } = this.rows[i]!;
      html += rowHtml(c, {
        node,
        depth,
        top: i * rowHeight,
        selected: node === this.selected,
        match: this.matches?.has(node) ?? false,
        open: this.open.has(node),
        isParent: this.children[node]!.some((n) => !c.hidden?.(n)),
      });
    }
    return html;
  }

  private key(e: KeyboardEvent): void {
    const c = this.content!;
    const at = this.rows.findIndex((r) => r.node === this.selected);
    const go = (i: number): void => {
      const row = this.rows[Math.min(this.rows.length - 1, Math.max(0, i))];
      if (row) {
        this.select(row.node);
        this.scrollTo(row.node);
      }
    };
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 1);
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + page),
      PageUp: () => go(at - page),
      Home: () => go(0),
      End: () => go(this.rows.length - 1),
      ArrowRight: () => {
        if (at >= 0 && !this.open.has(this.selected)) this.toggle(this.selected);
        else go(at + 1);
      },
      ArrowLeft: () => {
        if (at >= 0 && this.open.has(this.selected) && this.children[this.selected]!.length) this.toggle(this.selected);
        else if (at >= 0 && c.parent[this.selected]! >= 0) {
          this.select(c.parent[this.selected]!);
          this.scrollTo(this.selected);
        }
      },
      Enter: () => this.toggle(this.selected),
      h: () => this.hotPath(this.selected),
      "*": () => {
        this.openBelow(this.selected);
      },
    };
    const action = actions[e.key];
    if (!action || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    action();
  }

  private openBelow(node: number): void {
    if (node < 0) return;
    const list = [node];
    while (list.length) {
      const n = list.pop()!;
      if (this.children[n]!.length) {
        this.open.add(n);
        list.push(...this.children[n]!);
      }
    }
    this.rebuild();
  }

  /** All nodes, not only those that are open. */
  csv(unit: string): string {
    return csvOf(this.content!, unit, (visit) => this.walk((node, depth) => (visit(node, depth), true)));
  }
}
