// Pointer, wheel and keys of the timeline.
import { Mover } from "../moving";
import { scatteredSelection } from "../selection";
import { left } from "../timeline/axes";
import { iterationAt } from "./shares";
import type { EventPlace, EventTimeline } from "./view";

interface Drag {
  at: EventPlace;
  x: number;
  moment: [number, number];
  pan: boolean;
}

export function listen(timeline: EventTimeline): void {
  const { store, data, picture } = timeline,
    { canvas } = picture;
  let drag: Drag | null = null;
  const mover = new Mover({
    shown: () => store.state.moment,
    whole: () => store.wholeMoment(),
    show: (moment) => store.set({ moment: store.clampedMoment(moment) }),
    width: () => timeline.width,
    at: (x) => timeline.timeAt(x),
  });
  timeline.move = (factor) => mover.zoom(factor);

  /** Selects the iteration there, and in the call paths the call. */
  const choose = ({ row, ns }: EventPlace): void => {
    const one = timeline.events?.rows[row];
    if (!one) return;
    const own = one.own(ns),
      iteration = iterationAt(one, own),
      piece = one.states.at(own),
      call = piece >= 0 && one.states.isCall(piece) ? one.states.owner[piece]! : -1,
      node = call >= 0 ? one.calls.node[call]! : 0,
      task = call >= one.calls.runs ? one.calls.task[call - one.calls.runs]! : -1;
    if (node > 0) store.set({ node });
    store.set({ task: task < 0 ? null : { rank: one.rank, number: timeline.events!.tasks.number[task]! } });
    if (!iteration) return store.set({ eventSpan: null });
    const { phase, number } = iteration,
      all = data.header.phases[phase]?.iterations ?? 0;
    store.set({ eventSpan: { phase, number }, ...(number < all ? { a: scatteredSelection(phase, [[number, number + 1]], [], 0) } : {}) });
  };
  const tell = (place: EventPlace | null): void => {
    timeline.hover = place;
    timeline.onHover(place ?? timeline.reading);
    picture.redraw();
  };
  /** Reads the next or previous piece of the row. */
  const read = (by: number): void => {
    const rows = timeline.events?.rows ?? [],
      [t0, t1] = store.state.moment,
      at = timeline.reading ?? { row: timeline.firstRow, ns: (t0 + t1) / 2 },
      row = rows[at.row];
    if (!row || row.states.count === 0) return;
    const { states } = row,
      now = states.at(row.own(at.ns)),
      next = timeline.reading ? Math.min(states.count - 1, Math.max(0, now + by)) : Math.max(0, now),
      middle = row.place((states.begins[next]! + states.begins[next + 1]!) / 2);
    timeline.reading = { row: at.row, ns: middle };
    if (middle < t0 || middle > t1) mover.pan(middle - (t0 + t1) / 2);
    timeline.onHover(timeline.reading);
    picture.redraw();
  };
  const readRow = (by: number): void => {
    const n = timeline.events?.rows.length ?? 0,
      [t0, t1] = store.state.moment,
      at = timeline.reading ?? { row: timeline.firstRow - by, ns: (t0 + t1) / 2 };
    timeline.reading = { row: Math.min(n - 1, Math.max(0, at.row + by)), ns: at.ns };
    timeline.showRow(timeline.reading.row);
    timeline.onHover(timeline.reading);
    picture.redraw();
  };

  canvas.addEventListener("pointerdown", (e) => {
    const at = timeline.placeAt(e.offsetX, e.offsetY);
    if (!at) return;
    canvas.setPointerCapture(e.pointerId);
    drag = { at, x: e.offsetX, moment: store.state.moment, pan: e.button === 1 || e.altKey || e.shiftKey };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag?.pan) return mover.pan((drag.x - e.offsetX) * mover.perPixel(), drag.moment);
    const x = Math.min(left + timeline.width, Math.max(left, e.offsetX)),
      place = timeline.placeAt(x, e.offsetY);
    if (drag && Math.abs(e.offsetX - drag.x) > 3) {
      const [from, to] = [drag.at.ns, timeline.timeAt(x)].sort((a, b) => a - b) as [number, number];
      store.set({ eventSpan: { from: Math.round(from), to: Math.max(Math.round(from) + 1, Math.round(to)) } });
    }
    tell(place);
  });
  canvas.addEventListener("pointerup", (e) => {
    const ended = drag;
    drag = null;
    if (ended && !ended.pan && Math.abs(e.offsetX - ended.x) <= 3) choose(ended.at);
  });
  canvas.addEventListener("pointerleave", () => tell(null));
  canvas.addEventListener("blur", () => {
    timeline.reading = null;
    tell(null);
  });
  canvas.addEventListener(
    "wheel",
    (e) => {
      if (!e.shiftKey || e.ctrlKey) return mover.wheel(e);
      e.preventDefault();
      timeline.scrollRows(Math.sign(e.deltaY || e.deltaX) * 4);
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = (store.state.moment[1] - store.state.moment[0]) / 10,
      around = timeline.hover?.ns ?? (store.state.moment[0] + store.state.moment[1]) / 2;
    const actions: Record<string, () => void> = {
      ...mover.actions(),
      w: () => mover.zoom(0.7, around),
      s: () => mover.zoom(1 / 0.7, around),
      a: () => mover.pan(-step),
      d: () => mover.pan(step),
      ArrowUp: () => readRow(-1),
      ArrowDown: () => readRow(1),
      Enter: () => timeline.reading && choose(timeline.reading),
      Escape: () => store.set({ eventSpan: null, task: null }), // and, as everywhere, the whole run
    };
    const action = e.shiftKey && e.key === "ArrowLeft" ? () => read(-1) : e.shiftKey && e.key === "ArrowRight" ? () => read(1) : actions[e.key];
    if (!action || (e.shiftKey && !["ArrowLeft", "ArrowRight", "+"].includes(e.key))) return;
    e.preventDefault();
    action();
  });
}
