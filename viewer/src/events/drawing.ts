// What lies over the pixels of the timeline: iterations, names, the axis, the selection, messages.
import { readableOn, themeColor } from "../color";
import { duration, grouped } from "../format";
import type { Surface } from "../surface";
import { left, ticks } from "../timeline/axes";
import { regionColor } from "./colors";
import { lastBefore, type EventRow, type Events } from "./rows";
import { isIteration } from "./shares";
import { bottom, mostRows, top, type EventPlace, type EventTimeline } from "./view";
import { functionName, moment } from "./words";

const mostMessages = 2000;

export function drawRead(t: EventTimeline, s: Surface, { row, ns }: EventPlace): void {
  const one = t.events!.rows[row]!,
    piece = one.states.at(one.own(ns));
  if (piece < 0) return;
  const clip = (x: number): number => Math.min(left + t.width, Math.max(left, x)),
    from = clip(t.xOf(one.place(one.states.begins[piece]!))),
    to = clip(t.xOf(one.place(one.states.begins[piece + 1]!)));
  s.rect(from - 1, t.middleOf(row) - t.rowHeight / 2, Math.max(3, to - from + 2), t.rowHeight - 1, "none", themeColor("ink"));
}

/** Where they are wide enough. */
export function nameRegions(t: EventTimeline, s: Surface, row: EventRow, y: number): void {
  const [t0, t1] = t.store.state.moment,
    { regions } = row,
    [first, end] = regions?.range(row.own(t0), row.own(t1)) ?? [0, 0];
  if (!regions || end - first > t.width / 8) return;
  for (let i = first; i < end; ++i) {
    if (!regions.isCall(i)) continue;
    const x0 = Math.max(left, t.xOf(row.place(regions.begins[i]!))),
      x1 = Math.min(left + t.width, t.xOf(row.place(regions.begins[i + 1]!))),
      node = row.calls.node[regions.owner[i]!]!,
      name = functionName(t.data, node);
    if (x1 - x0 > name.length * 6 + 8) s.text(name, x0 + 4, y, readableOn(regionColor(node)), "left", 10);
  }
}

/** Above the rows those of the first row that has some, a bar over those with events; lines between them where they are wide enough. */
export function drawIterations(t: EventTimeline, s: Surface, rows: EventRow[], perPixel: number, gap: number): void {
  const [t0, t1] = t.store.state.moment,
    ink = themeColor("dim"),
    paper = themeColor("paper"),
    named = rows.findIndex(({ parts, stretches }) => parts.phase.some((p) => p >= -1) || stretches.begin.length > 0);
  rows.forEach((row, r) => {
    for (const list of [row.parts, row.stretches]) {
      const first = Math.max(0, lastBefore(list.begin, row.own(t0))),
        last = lastBefore(list.begin, row.own(t1));
      if (last < first) continue;
      const areWide = (t1 - t0) / perPixel / (last - first + 1) >= 7;
      if (r === named) nameIterations(t, s, row, list === row.parts, first, last, areWide, ink);
      for (let i = first; i <= last && areWide; ++i) {
        const x = t.xOf(row.place(list.begin[i]!));
        if (x > left && x < left + t.width) s.rect(x - 0.5, top + r * t.rowHeight, 1, t.rowHeight - gap, paper);
      }
    }
  });
  s.text("kept", left - 6, top - 5, ink, "right", 10);
}

function nameIterations(t: EventTimeline, s: Surface, row: EventRow, areKept: boolean, first: number, last: number, areWide: boolean, ink: string): void {
  const { parts, stretches } = row,
    list = areKept ? parts : stretches,
    clip = (x: number): number => Math.min(left + t.width, Math.max(left, x));
  let from = NaN,
    to = NaN;
  const close = (): void => {
    if (to > from) s.rect(clip(from), top - 5, Math.max(1, clip(to) - clip(from)), 3, ink);
  };
  for (let i = first; i <= last; ++i) {
    if (areKept && parts.phase[i] === -2) continue;
    const x0 = t.xOf(row.place(list.begin[i]!)),
      x1 = t.xOf(row.place(list.end[i]!)),
      [number, count] = areKept ? [parts.number[i]!, 1] : [stretches.first[i]!, stretches.count[i]!],
      name = count > 1 ? `${number + 1}–${number + count}` : String(number + 1);
    if (x1 - x0 > name.length * 7 + 6 && x0 >= left - 2 && x1 <= left + t.width + 2) s.text(name, (x0 + x1) / 2, top - 12, ink, "center", 10);
    if (!areKept) continue;
    if (areWide || !(x0 - to < 1)) {
      close();
      from = x0;
    }
    to = areWide ? x1 - 1 : x1;
  }
  close();
}

export function drawAxis(t: EventTimeline, s: Surface, rows: EventRow[], ih: number): void {
  const [t0, t1] = t.store.state.moment,
    dim = themeColor("dim"),
    frame = themeColor("frame");
  let named = -20;
  rows.forEach((row, r) => {
    const y = top + (r + 0.5) * t.rowHeight;
    if (y - named < 12) return;
    named = y;
    s.text((r === 0 ? "rank " : "") + row.name, left - 6, y, dim, "right");
  });
  const all = t.events!.rows.length;
  if (all > rows.length) {
    s.text(`rows ${t.firstRow + 1}–${t.firstRow + rows.length}`, left + t.width + 6, top + 8, dim, "left", 10);
    s.text(`of ${grouped(all)}: ↑ ↓`, left + t.width + 6, top + 21, dim, "left", 10);
  }
  s.rect(left, top, Math.floor(t.width), ih, "none", frame);
  const step = (t1 - t0) / Math.max(2, Math.floor(t.width / 120)),
    isFine = step < t1 * 1e-2; // many digits would be equal: count from the left end
  const places = ticks(isFine ? 0 : t0 / 1e9, (isFine ? t1 - t0 : t1) / 1e9, Math.max(2, Math.floor(t.width / 120)));
  for (const ns of places.map((t) => t * 1e9)) {
    const x = t.xOf(isFine ? t0 + ns : ns);
    s.line([x, top + ih, x, top + ih + 4], frame, 1);
    s.text(isFine && ns > 0 ? "+" + duration(ns) : isFine ? moment(t0) : duration(ns), x, top + ih + 12, dim, "center");
  }
}

export function drawSelection(t: EventTimeline, s: Surface, rows: EventRow[], gap: number): void {
  const { eventSpan } = t.store.state;
  if (!eventSpan) return;
  // Colours stay as they are: a band above the rows, and lines around.
  const clip = (x: number): number => Math.min(left + t.width, Math.max(left, x)),
    a = themeColor("a"),
    spans = t.selected(),
    around = isIteration(eventSpan);
  rows.forEach((row, r) => {
    const span = spans[t.firstRow + r];
    if (!span) return;
    const x0 = clip(t.xOf(row.place(span[0]))),
      x1 = clip(t.xOf(row.place(span[1]))),
      y0 = top + r * t.rowHeight,
      y1 = y0 + t.rowHeight - (around ? gap : 0);
    if (x1 <= x0) return;
    if (r === 0) s.rect(x0, top - 2, Math.max(2, x1 - x0), 2, a);
    s.line([x0, y0, x0, y1], a, 2);
    s.line([x1, y0, x1, y1], a, 2);
    if (!around) return;
    s.line([x0, y0 + 1, x1, y0 + 1], a, 2);
    s.line([x0, y1 - 1, x1, y1 - 1], a, 2);
  });
}

/** Lines from the begin of the call that sends to the end of the one that receives; where they are too many, their number. */
export function drawMessages(t: EventTimeline, s: Surface, { messages }: Events): void {
  const { passing } = t.pieces!,
    passes = (m: number): boolean => passing.of(sender[m]!, messages.sending[m]!) || passing.of(receiver[m]!, messages.receiving[m]!),
    [t0, t1] = t.store.state.moment,
    x = left + t.width + 6,
    y = t.picture.height - t.below - bottom - 20,
    { sender, receiver, sent, received, slowest } = messages,
    inView: number[] = [];
  for (let m = lastBefore(sent, t0 - slowest) + 1; m < messages.count && !(sent[m]! > t1); ++m) {
    if (!(received[m]! >= t0) || sender[m] === receiver[m] || !passes(m)) continue;
    inView.push(m);
    if (inView.length > mostMessages) break;
  }
  const dim = themeColor("dim");
  if (inView.length > mostMessages || inView.length > t.width / 2) {
    s.text("messages:", x, y, dim, "left", 10);
    s.text("zoom in", x, y + 13, dim, "left", 10);
    return;
  }
  const isShown = (row: number): boolean => row >= t.firstRow && row < t.firstRow + mostRows;
  for (const m of inView) {
    if (!isShown(sender[m]!) || !isShown(receiver[m]!)) continue;
    // Only what lies in the picture.
    let [x0, x1] = [t.xOf(sent[m]!), t.xOf(received[m]!)],
      [y0, y1] = [t.middleOf(sender[m]!), t.middleOf(receiver[m]!)];
    const slope = x1 === x0 ? 0 : (y1 - y0) / (x1 - x0);
    if (x0 < left) [x0, y0] = [left, y0 + (left - x0) * slope];
    if (x1 > left + t.width) [x1, y1] = [left + t.width, y1 - (x1 - left - t.width) * slope];
    s.line([x0, y0, x1, y1], themeColor("ink"), 0.8);
    if (x0 > left) s.rect(x0 - 1.5, y0 - 1.5, 3, 3, themeColor("ink"));
  }
}
