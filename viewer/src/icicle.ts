// The call paths as an icicle. The width of a box is its inclusive value, callees lie below their callers. The colour shows the share, the
// imbalance over ranks, or the difference to selection B.
import { warmth, css, difference, readableOn, themeColor } from "./color";
import type { Data } from "./data";
import { percent, quantity, shortName } from "./format";
import { errorOfDifference, type SelectionProfile } from "./profile";
import type { Store } from "./state";
import { Picture, type Surface } from "./surface";

const rowHeight = 21,
  top = 4,
  legendHeight = 24;
const mostLevels = 500; // more cannot be seen
interface Box {
  node: number;
  x: number;
  w: number;
  depth: number;
}

export class Icicle {
  readonly picture: Picture;
  private profile: SelectionProfile | null = null;
  private other: SelectionProfile | null = null;
  private children: number[][] = [];
  private boxes: Box[] = [];
  root = 0; // the widest box
  private hover = -1;
  onHover: (text: string) => void = () => {};

  constructor(
    private host: HTMLElement,
    private data: Data,
    private store: Store,
  ) {
    this.children = Array.from({ length: data.nodes }, () => []);
    data.header.nodes.parent.forEach((p, n) => {
      if (p >= 0) this.children[p]!.push(n);
    });
    this.picture = new Picture(host, "icicle", (s, w, h) => this.draw(s, w, h));
    const canvas = this.picture.canvas;
    canvas.setAttribute(
      "aria-label",
      "Call paths, width is the inclusive value. Click selects, double click makes a box as wide as the picture, Escape shows all.",
    );
    const at = (e: MouseEvent): Box | undefined =>
      this.boxes.findLast((b) => e.offsetX >= b.x && e.offsetX < b.x + Math.max(1, b.w) && Math.floor((e.offsetY - top) / rowHeight) === b.depth);
    canvas.addEventListener("click", (e) => {
      const b = at(e);
      if (b) this.store.set({ node: b.node });
    });
    canvas.addEventListener("dblclick", (e) => {
      const b = at(e);
      this.root = b && b.node !== this.root ? b.node : 0;
      this.picture.redraw();
    });
    canvas.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        this.root = 0;
        this.picture.redraw();
      }
      if (e.key === "Enter") {
        this.root = this.store.state.node;
        this.picture.redraw();
      }
    });
    canvas.addEventListener("pointermove", (e) => {
      const node = at(e)?.node ?? -1;
      if (node === this.hover) return;
      this.hover = node;
      this.onHover(node < 0 ? "" : this.describe(node));
      this.picture.redraw();
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.onHover("");
      this.picture.redraw();
    });
  }

  show(profile: SelectionProfile, other: SelectionProfile | null): void {
    this.profile = profile;
    this.other = other;
    if (this.profile.inclusive[this.root] === 0) this.root = 0;
    this.fit();
    this.picture.redraw();
  }

  setRoot(node: number): void {
    this.root = node;
    if (this.profile) this.show(this.profile, this.other);
  }

  private fit(): void {
    let deepest = 0;
    const p = this.profile!,
      least = (p.inclusive[this.root]! * 1.5) / Math.max(300, this.host.clientWidth);
    const visit = (n: number, depth: number): void => {
      deepest = Math.max(deepest, depth);
      for (const c of this.children[n]!) if (p.inclusive[c]! >= least && depth + 1 < mostLevels) visit(c, depth + 1);
    };
    visit(this.root, 0);
    this.host.style.height = top + (deepest + 1) * rowHeight + legendHeight + 8 + "px";
  }

  private describe(node: number): string {
    const p = this.profile!,
      m = this.data.header.metrics[p.parts.row]!,
      h = this.data.header.nodes;
    const show = (value: number): string => quantity(value, m.unit);
    let text = `${h.name[node]}${h.place[node] ? " (" + h.place[node] + ")" : ""}: ${p.exact || (p.known && p.inclusiveError[node] !== Infinity) ? "" : "≈ "}${show(p.inclusive[node]!)}${p.quality([node], false, show)} inclusive (${percent(p.inclusive[0] ? p.inclusive[node]! / p.inclusive[0] : 0)}), ${show(p.exclusive[node]!)}${p.quality([node], true, show)} own, imbalance ${percent(p.imbalance(node))}`;
    if (this.other) {
      const difference = this.other.inclusive[node]! / this.other.unit() - p.inclusive[node]! / p.unit(),
        error = errorOfDifference(p, this.other, [node], false);
      text += `; B − A: ${show(difference)}${error === 0 || error === Infinity ? "" : ` ± ${show(error)}`} per rank${p.selection.phase >= 0 ? " and iteration" : ""}`;
      if (difference !== 0 && Math.abs(difference) <= error && error !== Infinity) text += ", within the error (95 %)";
    }
    return text;
  }

  private shade(node: number): [number, number, number] {
    const p = this.profile!,
      coloring = this.store.state.coloring;
    if (coloring === "imbalance") return warmth(Math.min(1, p.imbalance(node) / 0.5));
    if (coloring === "difference" && this.other) {
      const a = p.inclusive[node]! / p.unit(),
        b = this.other.inclusive[node]! / this.other.unit();
      return difference(Math.max(-1, Math.min(1, a + b === 0 ? 0 : ((b - a) / Math.max(a, b)) * 1.5)));
    }
    const all = p.inclusive[0]!;
    return warmth(all === 0 ? 0 : Math.sqrt(p.exclusive[node]! / all));
  }

  private draw(s: Surface, width: number, height: number): void {
    const p = this.profile;
    if (!p) return;
    this.boxes = [];
    const all = p.inclusive[this.root]!;
    const dim = themeColor("dim"),
      paper = themeColor("paper");
    if (all === 0) {
      s.text("nothing of this metric in the selection", width / 2, 24, dim, "center", 13);
      return;
    }
    const lay = (node: number, x: number, w: number, depth: number): void => {
      this.boxes.push({ node, x, w, depth });
      let at = x;
      for (const c of [...this.children[node]!].sort((a, b) => p.inclusive[b]! - p.inclusive[a]!)) {
        const cw = (p.inclusive[c]! / all) * width;
        if (cw >= 1.5 && depth + 1 < mostLevels) lay(c, at, cw, depth + 1);
        at += cw;
      }
    };
    lay(this.root, 0, width, 0);
    for (const b of this.boxes) {
      const c = this.shade(b.node),
        y = top + b.depth * rowHeight;
      s.rect(b.x, y, Math.max(0.6, b.w - 0.6), rowHeight - 1, css(c));
      if (b.node === this.store.state.node || b.node === this.hover) {
        s.rect(b.x, y, Math.max(2, b.w - 0.6), rowHeight - 1, "none", paper);
        s.rect(b.x + 1, y + 1, Math.max(1, b.w - 2.6), rowHeight - 3, "none", b.node === this.store.state.node ? themeColor("a") : themeColor("ink"));
      }
      const letters = Math.floor((b.w - 8) / 6.4);
      if (letters >= 3) {
        const name = shortName(this.data.header.nodes.name[b.node]!);
        s.text(name.length > letters ? name.slice(0, letters - 1) + "…" : name, b.x + 5, y + rowHeight / 2, readableOn(c), "left", 11.5);
      }
    }
    // Legend.
    const y = height - legendHeight + 6,
      coloring = this.store.state.coloring,
      diff = coloring === "difference" && this.other;
    const words: Record<string, [string, string]> = {
      share: ["colour: own share of the whole  0 %", "100 %"],
      imbalance: ["colour: slowest rank over the mean  0 %", "50 % and more"],
      difference: ["colour: B takes less than A", "more"],
    };
    const [low, high] = words[diff ? "difference" : coloring === "difference" ? "share" : coloring]!;
    s.text(low, 4, y + 6, dim);
    const x = 10 + low.length * 5.7;
    for (let i = 0; i < 40; ++i)
      s.rect(x + i * 3, y, 3.4, 11, css(diff ? difference(i / 19.5 - 1) : warmth(coloring === "imbalance" ? i / 39 : Math.sqrt(i / 39))));
    s.text(high, x + 126, y + 6, dim);
    if (this.root !== 0) s.text("zoomed: double click on the top box or Escape shows all", width - 4, y + 6, dim, "right");
  }
}
