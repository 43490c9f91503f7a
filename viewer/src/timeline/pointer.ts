// Pointer, wheel and keys of the timeline.
import type { Selection } from "../selection";
import type { Zoom } from "../state";
import type { Timeline } from "../timeline";
import { chooseCause } from "../causes";
import { left, type Cell } from "./axes";
import { laneHeight } from "./marks";

interface Drag {
  kind: "select" | "pan";
  x: number;
  y: number;
  zoom: Zoom;
  at: Cell;
}

export function listen(timeline: Timeline): void {
  const { axes, data, store, picture } = timeline,
    { canvas } = picture;
  let drag: Drag | null = null;
  const select = (drag: Drag, x: number, y: number): void => {
    const n = data.header.phases[store.state.phase]!.iterations!,
      ranks = data.header.job.ranks;
    const clamp = (v: number, most: number): number => Math.min(most, Math.max(0, v));
    const i0 = axes.iterationAt(Math.min(drag.x, x)),
      i1 = axes.iterationAt(Math.max(drag.x, x));
    const a: Selection = { phase: store.state.phase, from: clamp(Math.floor(i0), n - 1), to: clamp(Math.ceil(i1), n), ranks: null };
    if (drag.at.band !== "graph") {
      const band = axes.bands[drag.at.band];
      const r0 = clamp(Math.floor(axes.rankAt(Math.min(drag.y, y), band)), ranks - 1),
        r1 = clamp(Math.ceil(axes.rankAt(Math.max(drag.y, y), band)), ranks);
      if (!(r0 === 0 && r1 === ranks)) a.ranks = [r0, Math.max(r0 + 1, r1)];
    }
    store.set({ a });
  };
  canvas.addEventListener("pointerdown", (e) => {
    const lane = Math.floor((e.offsetY - 2) / laneHeight);
    if (lane >= 0 && lane < data.header.causes.list.length) return chooseCause(data, store, lane);
    const at = axes.cellAt(e.offsetX, e.offsetY);
    if (!at) return;
    canvas.setPointerCapture(e.pointerId);
    drag = { kind: e.button === 1 || e.altKey || e.shiftKey ? "pan" : "select", x: e.offsetX, y: e.offsetY, zoom: store.state.zoom, at };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag?.kind === "pan") {
      const z = drag.zoom,
        band = axes.bands[drag.at.band];
      const di = ((e.offsetX - drag.x) / axes.width) * (z[1] - z[0]);
      const dr = drag.at.band === "graph" ? 0 : ((e.offsetY - drag.y) / band.h) * (z[3] - z[2]);
      timeline.pan(-di, -dr, z);
      return;
    }
    timeline.hover = axes.cellAt(Math.min(left + axes.width, Math.max(left, e.offsetX)), e.offsetY);
    if (drag && Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 3) select(drag, e.offsetX, e.offsetY);
    timeline.onHover(timeline.hover);
    picture.redraw();
  });
  canvas.addEventListener("pointerup", (e) => {
    const ended = drag;
    drag = null;
    if (ended?.kind === "select" && Math.abs(e.offsetX - ended.x) + Math.abs(e.offsetY - ended.y) <= 3) {
      // A click selects the iteration; in the map only for the rank.
      const { iteration, rank } = ended.at;
      store.set({ a: { phase: store.state.phase, from: iteration, to: iteration + 1, ranks: rank < 0 ? null : [rank, rank + 1] } });
    }
  });
  canvas.addEventListener("pointerleave", () => {
    timeline.hover = null;
    timeline.onHover(null);
    picture.redraw();
  });
  canvas.addEventListener(
    "wheel",
    (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return; // the page scrolls
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && !e.ctrlKey) {
        const z = store.state.zoom;
        timeline.pan((e.deltaX / axes.width) * (z[1] - z[0]), 0);
        return;
      }
      const at = axes.cellAt(e.offsetX, e.offsetY);
      if (!at) return;
      const factor = Math.exp(e.deltaY * 0.002);
      if (e.shiftKey && at.band !== "graph") timeline.zoomBy(factor, "y", axes.rankAt(e.offsetY, axes.bands[at.band]));
      else timeline.zoomBy(factor, "x", axes.iterationAt(e.offsetX));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (e) => {
    const z = store.state.zoom,
      step = (z[1] - z[0]) / 10,
      up = (z[3] - z[2]) / 10;
    const a = store.state.a;
    const move = (by: number): void => {
      if (a.phase !== store.state.phase || a.to <= a.from || a.iterations) return;
      const n = data.header.phases[a.phase]!.iterations!,
        width = a.to - a.from;
      const from = Math.min(n - width, Math.max(0, a.from + by));
      store.set({ a: { ...a, from, to: from + width } });
    };
    const actions: Record<string, () => void> = {
      ArrowLeft: () => (e.shiftKey ? move(-1) : timeline.pan(-step, 0)),
      ArrowRight: () => (e.shiftKey ? move(1) : timeline.pan(step, 0)),
      ArrowUp: () => timeline.pan(0, -up),
      ArrowDown: () => timeline.pan(0, up),
      "+": () => timeline.zoomBy(0.7, "x"),
      "=": () => timeline.zoomBy(0.7, "x"),
      "-": () => timeline.zoomBy(1 / 0.7, "x"),
      "0": () => store.set({ zoom: store.wholeZoom(store.state.phase) }),
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  });
}
