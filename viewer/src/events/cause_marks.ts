// Causes of the diagnosis as marks of the timeline: a lane of each, and the iterations of the ranks that it names on their rows.
import { chooseCause } from "../causes";
import { themeColor } from "../color";
import { spansOfFlat, type Span } from "../selection";
import type { Surface } from "../surface";
import type { Begins } from "../strip/begins";
import { left } from "../timeline/axes";
import { drawLanes, laneHeight } from "../timeline/marks";
import { lastBefore, type EventRow } from "./rows";
import { top, type EventTimeline } from "./view";

/** Disjoint times of the axis, in their order. */
export interface Times {
  begin: Float64Array;
  end: Float64Array;
}
const nowhere: Times = { begin: new Float64Array(0), end: new Float64Array(0) };

/** What touches is one. */
function united(list: Span[]): Times {
  const begin: number[] = [],
    end: number[] = [];
  for (const [from, to] of list.sort((a, b) => a[0] - b[0]))
    if (end.length > 0 && from - end.at(-1)! < 1) end[end.length - 1] = Math.max(end.at(-1)!, to);
    else {
      begin.push(from);
      end.push(to);
    }
  return { begin: Float64Array.from(begin), end: Float64Array.from(end) };
}

/** Where a row has these iterations of a phase; ranges in ascending order, none for all. */
function timesOfRow(row: EventRow, phase: number, iterations: Span[]): Times {
  const list: Span[] = [],
    { parts, stretches, inners } = row,
    firsts = Float64Array.from(iterations, ([from]) => from),
    isIn = (number: number): boolean => iterations.length === 0 || (iterations[lastBefore(firsts, number)]?.[1] ?? 0) > number;
  parts.begin.forEach((begin, p) => parts.phase[p] === phase && isIn(parts.number[p]!) && list.push([begin, parts.end[p]!]));
  inners.begin.forEach((begin, i) => inners.phase[i] === phase && isIn(inners.number[i]!) && list.push([begin, inners.end[i]!]));
  stretches.begin.forEach((begin, s) => {
    if (stretches.phase[s] !== phase) return;
    const first = stretches.first[s]!,
      last = first + stretches.count[s]!,
      each = (stretches.end[s]! - begin) / stretches.count[s]!; // of several, where it is in them is not known
    if (iterations.length === 0) list.push([begin, stretches.end[s]!]);
    for (let i = Math.max(0, lastBefore(firsts, first)); i < iterations.length && firsts[i]! < last; ++i) {
      const [a, b] = [Math.max(iterations[i]![0], first) - first, Math.min(iterations[i]![1], last) - first];
      if (b > a) list.push([begin + a * each, begin + b * each]);
    }
  });
  return united(list.map(([from, to]) => [row.place(from), row.place(to)]));
}

/** Rows whose times make the lane of a cause: iterations are at about the same time everywhere. */
const rowsOfLane = 64;

export class CauseMarks {
  private readonly ofRows = new Map<string, Times>(); // by cause and row
  private readonly ofLane = new Map<number, Times>();

  /** By phase, where the page does not have all iterations' events. */
  private readonly begins = new Map<number, Begins | null>();

  constructor(private readonly t: EventTimeline) {}

  async load(): Promise<void> {
    const { data, asked } = this.t;
    for (const { phase } of asked ? data.header.causes.list : []) if (phase >= 0) this.begins.set(phase, await data.begins(phase));
    this.ofRows.clear(); // something may have been drawn meanwhile
    this.ofLane.clear();
  }

  private get count(): number {
    return this.t.data.header.causes.list.length;
  }
  get height(): number {
    return this.count > 0 ? this.count * laneHeight + 6 : 0;
  }

  /** Where a row of the timeline has it. */
  times(cause: number, row: number): Times {
    const key = `${cause} ${row}`;
    let known = this.ofRows.get(key);
    if (known) return known;
    this.ofRows.set(key, (known = this.find(cause, this.t.events!.rows[row]!)));
    return known;
  }
  private find(cause: number, row: EventRow): Times {
    const { phase, iterations, ranks } = this.t.data.header.causes.list[cause]!,
      { phases, events } = this.t.data.header,
      spans = spansOfFlat(iterations);
    if (ranks.length > 0 && !spansOfFlat(ranks).some(([from, to]) => row.rank >= from && row.rank < to)) return nowhere;
    if (phase < 0 || !phases[phase]?.iterations) return united([[0, events!.end]]);
    if (!this.begins.has(phase)) return timesOfRow(row, phase, spans);
    return united(this.begins.get(phase)?.places(row.rank, spans.length > 0 ? spans : [[0, Infinity]], 1) ?? []);
  }
  private lane(cause: number): Times {
    let known = this.ofLane.get(cause);
    if (known) return known;
    const list: Span[] = [];
    for (let row = 0, used = 0; row < this.t.events!.rows.length && used < rowsOfLane; ++row) {
      const { begin, end } = this.times(cause, row);
      if (begin.length > 0) ++used;
      begin.forEach((from, i) => list.push([from, end[i]!]));
    }
    this.ofLane.set(cause, (known = united(list)));
    return known;
  }

  draw(s: Surface, y: number): void {
    const { t } = this,
      chosen = t.store.state.cause;
    if (this.count === 0) return;
    drawLanes(s, t.data, chosen, y, left, Math.floor(t.width), (cause) => this.inPixels(this.lane(cause)));
    for (let cause = 0; cause < this.count; ++cause) if (cause !== chosen) this.drawOnRows(s, cause, false);
    if (chosen >= 0) this.drawOnRows(s, chosen, true);
  }

  /** What is seen of them; those closer than a pixel are one. */
  private inPixels({ begin, end }: Times): Span[] {
    const { t } = this,
      t1 = t.store.state.moment[1],
      out: Span[] = [];
    for (let i = Math.max(0, lastBefore(begin, t.store.state.moment[0])); i < begin.length && begin[i]! <= t1; ++i) {
      const from = t.xOf(begin[i]!);
      for (let next = i; ; i = next) {
        next = lastBefore(begin, t.timeAt(t.xOf(end[i]!) + 1));
        if (next <= i) break;
      }
      if (t.xOf(end[i]!) >= left) out.push([from, t.xOf(end[i]!)]);
    }
    return out;
  }

  /** A line at the lower edge of the row, or a frame if it is the one that is chosen. */
  private drawOnRows(s: Surface, cause: number, isChosen: boolean): void {
    const { t } = this,
      end = left + Math.floor(t.width),
      h = t.rowHeight - (t.rowHeight >= 10 ? 2 : 0);
    t.shownRows.forEach((_, r) => {
      const y = top + r * t.rowHeight;
      for (const [from, to] of this.inPixels(this.times(cause, t.firstRow + r))) {
        const x0 = Math.max(left, from),
          x1 = Math.min(end, Math.max(to, from + 2));
        if (x1 <= x0) continue;
        if (!isChosen) s.rect(x0, y + h - 2, x1 - x0, 3, themeColor("max"));
        else for (const inset of [0, 1]) s.rect(x0 + inset, y + inset, Math.max(1, x1 - x0 - 2 * inset), h - 2 * inset, "none", themeColor("a"));
      }
    });
  }

  /** The cause whose lane is there; -1: none. @param y from where the lanes begin */
  at(y: number): number {
    const cause = Math.floor(y / laneHeight);
    return cause >= 0 && cause < this.count ? cause : -1;
  }

  choose(cause: number): void {
    const { store, data } = this.t;
    if (store.state.cause === cause) store.set({ a: { phase: -1, from: 0, to: 0, ranks: null } });
    else chooseCause(data, store, cause);
  }

  /** Selects the next or previous one, and shows where it is. */
  step(by: 1 | -1): void {
    const { t } = this;
    if (this.count === 0) return;
    const now = t.store.state.cause,
      next = now < 0 ? (by > 0 ? 0 : this.count - 1) : (now + by + this.count) % this.count;
    chooseCause(t.data, t.store, next);
    const { begin, end } = this.lane(next),
      [t0, t1] = t.store.state.moment,
      at = lastBefore(begin, t1);
    if (begin.length === 0 || (at >= 0 && end[at]! > t0)) return;
    const width = Math.max(t1 - t0, 1.6 * (end[0]! - begin[0]!)),
      middle = (begin[0]! + end[0]!) / 2;
    t.store.set({ moment: t.store.clampedMoment([middle - width / 2, middle + width / 2]) });
  }
}
