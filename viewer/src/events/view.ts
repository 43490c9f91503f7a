// The timeline: threads over time, event by event where events were kept.
import type { Clusters } from "../clusters";
import { themeColor } from "../color";
import type { Data } from "../data";
import type { EventsHeader } from "../header";
import type { Span } from "../selection";
import type { EventMode, Store, TaskName } from "../state";
import { CanvasSurface, Picture, type Surface } from "../surface";
import { left, right } from "../timeline/axes";
import { Images } from "../timeline/images";
import { AskedEvents } from "./asked";
import { Shades, stateColors } from "./colors";
import { paintRegions, paintRow, painter } from "./paint";
import { drawAxis, drawIterations, drawMessages, drawRead, drawSelection, nameRegions } from "./drawing";
import { Passing } from "./filter";
import type { Overlays } from "./overlays";
import { Pieces } from "./pieces";
import { listen } from "./pointer";
import { hasLimits, limitsIn, usualShades } from "./shade_state";
import { taskColors, type TaskColors } from "./task_colors";
import { lastBefore, readEvents, type EventRow, type Events } from "./rows";
import { spanOfRow } from "./shares";
import { drawTasks } from "./task_lines";

export const bottom = 20,
  top = 20,
  mostRows = 64;

export interface EventPlace {
  row: number; // of all rows
  ns: number; // on the axis
}

/** Nearly all durations lie between. */
function limitsOf(durations: number[]): Span {
  durations.sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.floor(share * (durations.length - 1))] ?? 100;
  return [Math.max(1, at(0.02)), Math.max(10 * at(0.02), at(0.995))];
}

export class EventTimeline {
  readonly picture: Picture;
  readonly header: EventsHeader;
  events: Events | null = null;
  pieces: Pieces | null = null;
  readonly clusters = new Map<number, Clusters>();
  shades = new Shades(100, 1e9);
  firstRow = 0;
  hover: EventPlace | null = null;
  /** What keys read; null: nothing. */
  reading: EventPlace | null = null;
  /** Of a timeline that is too large for the page. */
  asked: AskedEvents | null = null;
  /** Other events are shown than before. */
  onEvents: () => void = () => {};
  onHover: (place: EventPlace | null) => void = () => {};
  readonly onLoad: (() => void)[] = [];
  overlays: Overlays | null = null;
  move: (factor: number) => void = () => {}; // pointer.ts
  private readonly images = new Images();
  private content = 0;
  private spans: { of: unknown; events: Events | null; list: (Span | null)[] } = { of: null, events: null, list: [] };

  constructor(
    host: HTMLElement,
    readonly data: Data,
    readonly store: Store,
  ) {
    this.header = data.header.events!;
    this.picture = new Picture(host, "events", (s) => this.draw(s));
    this.picture.canvas.setAttribute(
      "aria-label",
      "Timeline of threads. Drag selects, a click selects an iteration; A and D move, W and S zoom, " +
        "Shift and left or right read call by call, up and down change the row.",
    );
    listen(this);
  }

  async load(): Promise<void> {
    this.events = await readEvents(this.data.header, this.header);
    this.filter();
    if (this.header.indexed) {
      const show = (events: Events): void => {
        const isFirst = this.events!.rows.every((row) => row.states.longestCall(0, row.states.count) === 0);
        this.events = events;
        this.filter();
        if (isFirst) this.findLimits(events);
        this.onEvents();
        this.renew();
      };
      this.asked = new AskedEvents(this.data, this.events, show, () => this.picture.redraw());
    }
    const phases = new Set<number>();
    for (const { parts, stretches } of this.events.rows)
      for (const list of [parts.phase, stretches.phase]) for (const phase of list) if (phase >= 0) phases.add(phase);
    this.findLimits(this.events);
    for (const phase of phases) if (this.data.header.phases[phase]?.clusters) this.clusters.set(phase, await this.data.clusters(phase));
    this.renew();
    for (const listener of this.onLoad) listener();
  }
  /** Of the shades of durations. */
  private findLimits(events: Events): void {
    const durations: number[] = [];
    for (const { calls, states, isMixed } of events.rows) {
      const step = Math.max(1, Math.floor(states.count / 1000));
      for (let i = 0; i < states.count; i += step)
        if (states.isCall(i)) durations.push(calls.end[states.owner[i]!]! - calls.begin[states.owner[i]!]!);
        else if (isMixed && states.longestCall(i, i + 1) > 0) durations.push(states.longestCall(i, i + 1));
    }
    const { tasks, rows } = events,
      every = Math.max(1, Math.floor(tasks.count / 10000)),
      some = Array.from({ length: Math.ceil(tasks.count / every) }, (_, i) => tasks.duration(i * every, rows));
    this.limits = { duration: limitsOf(durations), task_duration: limitsOf(some) };
  }
  private limits: Partial<Record<EventMode, Span>> = {};

  /** After a change of what counts, or of what is there. */
  filter(): void {
    const passing = new Passing(this.data, this.events!, this.store.state.eventFilter);
    this.pieces = new Pieces(this.events!, this.header.states, passing);
  }
  /** What colours say of tasks; null: they are not about tasks. */
  get taskColors(): TaskColors | null {
    return this.events && taskColors(this.store.state.eventMode, this.events.tasks, this.header.types.length, this.shadeCount);
  }
  get shadeCount(): number {
    const { eventMode, eventShades } = this.store.state;
    return eventShades[eventMode]?.count || usualShades(eventMode);
  }
  /** Limits of shades that nobody has chosen. */
  get usualLimits(): Span {
    return this.limits[this.store.state.eventMode] ?? [100, 1e9];
  }

  /** After a change of what colours say. */
  renew(): void {
    const { eventMode, eventShades } = this.store.state;
    this.shades = new Shades(...limitsIn(hasLimits(eventMode) ? eventShades[eventMode] : undefined, this.usualLimits), this.shadeCount);
    ++this.content;
    this.images.clear();
    this.picture.redraw();
  }

  /** Pixels that it needs. */
  get wantedHeight(): number {
    const { rows: counts, indexed } = this.header,
      rows = counts.parts.filter((n, l) => n + counts.stretches[l]! > 0 || indexed?.[l]).length;
    return this.below + top + bottom + Math.max(44, Math.min(rows, mostRows) * (rows <= 4 ? 44 : rows <= 16 ? 24 : rows <= 40 ? 14 : 12));
  }
  /** Pixels below the axis. */
  get below(): number {
    return this.overlays?.height ?? 0;
  }
  get width(): number {
    return Math.max(1, this.picture.width - left - right);
  }
  get shownRows(): EventRow[] {
    return this.events?.rows.slice(this.firstRow, this.firstRow + mostRows) ?? [];
  }
  /** Moves the rows that are shown, if there are more. */
  showRow(row: number): void {
    const n = this.events?.rows.length ?? 0,
      first = Math.max(0, Math.min(n - mostRows, row < this.firstRow ? row : row >= this.firstRow + mostRows ? row - mostRows + 1 : this.firstRow));
    if (first === this.firstRow) return;
    this.firstRow = first;
    this.renew();
  }
  scrollRows(by: number): void {
    this.showRow(by < 0 ? this.firstRow + by : this.firstRow + mostRows - 1 + by);
  }
  get rowHeight(): number {
    return Math.max(1, Math.floor((this.picture.height - this.below - top - bottom) / Math.max(1, this.shownRows.length)));
  }
  timeAt(x: number): number {
    const [t0, t1] = this.store.state.moment;
    return t0 + ((x - left) / this.width) * (t1 - t0);
  }
  xOf(ns: number): number {
    const [t0, t1] = this.store.state.moment;
    return left + ((ns - t0) / (t1 - t0)) * this.width;
  }
  placeAt(x: number, y: number): EventPlace | null {
    if (x < left || x > left + this.width || y > this.picture.height - this.below - bottom + 4) return null;
    const row = Math.max(0, Math.floor((y - top) / this.rowHeight));
    return row < this.shownRows.length ? { row: this.firstRow + row, ns: this.timeAt(x) } : null;
  }
  /** The middle of a row, in pixels. */
  middleOf(row: number): number {
    return top + (row - this.firstRow + 0.5) * this.rowHeight;
  }

  /** The next or previous kept iteration of a row, from what is shown; null: there is none. */
  nextKept(row: EventRow, direction: 1 | -1): Span | null {
    const [t0, t1] = this.store.state.moment,
      { begin, end, phase } = row.parts,
      middle = row.own((t0 + t1) / 2);
    let p = lastBefore(begin, middle);
    if (direction > 0 || (p >= 0 && middle < end[p]!)) p += direction;
    while (p >= 0 && p < begin.length && phase[p] === -2) p += direction;
    return p >= 0 && p < begin.length ? [row.place(begin[p]!), row.place(end[p]!)] : null;
  }

  private draw(s: Surface): void {
    const { moment, eventMode, eventFilter } = this.store.state,
      what = { filter: eventFilter, byType: eventMode === "type" };
    // First of all: then there may be other events.
    if (this.shownRows.length > 0) this.asked?.want({ moment, width: Math.floor(this.width), rows: this.shownRows, what });
    const { events, rowHeight } = this,
      rows = this.shownRows;
    if (!events || rows.length === 0) return;
    const iw = Math.floor(this.width),
      ih = rowHeight * rows.length,
      [t0, t1] = this.store.state.moment,
      perPixel = (t1 - t0) / iw,
      gap = rowHeight >= 10 ? 2 : 0,
      regions = rows.some((row) => row.regions) && rowHeight >= 12 ? Math.max(3, Math.floor(rowHeight * 0.28)) : 0,
      { taskColors } = this,
      pieces = this.pieces!,
      colors = taskColors?.colors ?? stateColors(this.header),
      paint = painter(this.store.state.eventMode, colors, !!taskColors, pieces.passing.isActive, this.shades, this.clusters);
    const image = this.images.draw("events", this.content, [t0, t1, 0, rows.length], iw, ih, (out, part) => {
      rows.forEach((row, r) => {
        const y0 = r * rowHeight,
          y1 = y0 + rowHeight - gap;
        const number = this.firstRow + r;
        paintRow(out, iw, [y0, y1 - regions], part, row, pieces.of(number, taskColors), t0, perPixel, paint);
        if (regions > 0) paintRegions(out, iw, [y1 - regions + 1, y1], part, row, (call) => pieces.passing.of(number, call), t0, perPixel);
      });
    });
    s.image(image, left, top, iw, ih);
    if (this.asked?.missing) s.text(this.asked.missing, left + iw / 2, top + ih / 2, themeColor("ink"), "center", 13);
    if (regions >= 10) rows.forEach((row, r) => nameRegions(this, s, row, top + (r + 1) * rowHeight - gap - regions / 2 + 0.5));
    drawIterations(this, s, rows, perPixel, gap);
    drawAxis(this, s, rows, ih);
    drawSelection(this, s, rows, gap);
    drawMessages(this, s, events);
    drawTasks(this, s, events);
    this.overlays?.draw(s);
    if (!(s instanceof CanvasSurface)) return;
    for (const place of [this.hover, this.reading]) {
      if (!place) continue;
      const x = this.xOf(place.ns);
      if (x >= left && x <= left + iw) s.line([x, top - 4, x, this.below > 0 ? this.picture.height : top + ih], themeColor("ink"), 0.7);
    }
    if (this.reading) drawRead(this, s, this.reading);
  }

  /** Its number in Tasks; -1: none is selected. */
  selectedTask(): number {
    const { task } = this.store.state;
    if (this.chosen.of !== task) this.chosen = { of: task, number: task ? this.events!.tasks.find(task.rank, task.number, this.events!.rows) : -1 };
    return this.chosen.number;
  }
  private chosen: { of: TaskName | null; number: number } = { of: null, number: -1 };

  /** Where each row has the selection, on its clock. */
  selected(): (Span | null)[] {
    const { eventSpan } = this.store.state;
    if (this.spans.of !== eventSpan || this.spans.events !== this.events)
      this.spans = { of: eventSpan, events: this.events, list: this.events!.rows.map((row) => (eventSpan ? spanOfRow(row, eventSpan) : null)) };
    return this.spans.list;
  }
}
