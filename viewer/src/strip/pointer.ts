// Pointer, wheel and keys of the strip.
import { chooseCause } from "../causes";
import { Mover } from "../moving";
import { scatteredSelection, spansOf } from "../selection";
import type { Strip, StripCell } from "../strip";
import { left } from "../timeline/axes";

interface Drag {
  at: StripCell;
  x: number;
  y: number;
  time: [number, number];
  pan: boolean;
}

export function listen(strip: Strip): void {
  const { data, store, picture } = strip,
    { canvas } = picture;
  let drag: Drag | null = null;
  const mover = new Mover({
    shown: () => store.state.time,
    whole: () => store.wholeTime(),
    show: (time) => store.set({ time: store.clampedTime(time) }),
    width: () => strip.width,
    at: (x) => strip.timeAt(x),
  });
  strip.zoom = (factor) => mover.zoom(factor);
  /** Ranks of rows, and the iterations between two times on any of them. */
  const select = (one: StripCell, other: StripCell): void => {
    const rows = strip.rows.slice(Math.min(one.row, other.row), Math.max(one.row, other.row) + 1),
      ranks = rows.flatMap((row) => row.ranks).sort((a, b) => a - b),
      chosen = ranks.length === data.header.job.ranks ? [] : spansOf(ranks),
      { phase } = store.state;
    let from = Infinity,
      to = -1;
    const begins = strip.begins.get(phase),
      [t0, t1] = [Math.min(one.ns, other.ns), Math.max(one.ns, other.ns)];
    for (const rank of begins ? ranks : []) {
      const n = begins!.counts[rank] ?? 0;
      if (n === 0 || t1 < begins!.of(rank, 0) || t0 >= begins!.of(rank, n)) continue;
      const first = begins!.at(rank, Math.max(t0, begins!.of(rank, 0))),
        last = begins!.at(rank, t1);
      from = Math.min(from, first);
      to = Math.max(to, last < 0 ? n : last + 1);
    }
    const a = to > from ? scatteredSelection(phase, [[from, to]], chosen, 0) : scatteredSelection(-1, [], chosen, 0);
    store.set({ a });
  };
  canvas.addEventListener("pointerdown", (e) => {
    const at = strip.cellAt(e.offsetX, e.offsetY);
    if (!at) return;
    canvas.setPointerCapture(e.pointerId);
    drag = { at, x: e.offsetX, y: e.offsetY, time: store.state.time, pan: e.button === 1 || e.altKey || e.shiftKey };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag?.pan) return mover.pan((drag.x - e.offsetX) * mover.perPixel(), drag.time);
    const x = Math.min(left + strip.width, Math.max(left, e.offsetX));
    strip.hover = strip.cellAt(x, e.offsetY);
    if (drag && drag.at.row >= 0 && strip.hover && strip.hover.row >= 0 && Math.abs(e.offsetX - drag.x) > 3) select(drag.at, strip.hover);
    strip.onHover(strip.hover);
    picture.redraw();
  });
  canvas.addEventListener("pointerup", (e) => {
    const ended = drag;
    drag = null;
    if (!ended || ended.pan || Math.abs(e.offsetX - ended.x) > 3) return;
    if (ended.at.cause >= 0) return chooseCause(data, store, ended.at.cause);
    select(ended.at, ended.at);
    const context = strip.contextAt(strip.rows[ended.at.row]!, ended.at.ns);
    if (context >= 0) store.set({ node: data.header.strip!.tree.node[context]! });
  });
  canvas.addEventListener("pointerleave", () => {
    strip.hover = null;
    strip.onHover(null);
    picture.redraw();
  });
  canvas.addEventListener("wheel", mover.wheel, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const deepest = strip.contexts?.deepest ?? -1,
      deeper = (by: number): void => store.set({ depth: Math.min(deepest, Math.max(-1, store.state.depth + by)) });
    const actions: Record<string, () => void> = { ...mover.actions(), ArrowUp: () => deeper(-1), ArrowDown: () => deeper(1) };
    const action = actions[e.key];
    if (!action || e.shiftKey !== (e.key === "+" && e.shiftKey)) return;
    e.preventDefault();
    action();
  });
}
