// Quantities that grow with time, of one row each: what derived metrics of the timeline are made of. Times are those of the row's clock.
import type { Data } from "../data";
import { shortName } from "../format";
import { matches, type Accessing, type Names, type Series, type Span } from "./expression";
import { isAccess } from "./places";
import type { EventRow, Events } from "./rows";

export interface Track {
  /** Adds what it has come to before each time. Times ascend. */
  addAt(times: Float64Array, out: Float64Array): void;
}

/** The last one that is before a time (or at it); -1: none. @param from one that is not later than the answer, or -1 */
function seekFrom(list: Float64Array, ns: number, from: number, isStrict: boolean): number {
  const fits = (i: number): boolean => (isStrict ? list[i]! < ns : list[i]! <= ns);
  let low = from,
    step = 1;
  while (low + step < list.length && fits(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(list.length, low + step);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** How much of the time is known, event by event or also as sums. */
export class Known implements Track {
  private readonly begins: Float64Array;
  private readonly ends: Float64Array;
  private readonly before: Float64Array;

  constructor({ states: pieces }: EventRow, withSums: boolean) {
    const begins: number[] = [],
      ends: number[] = [],
      last = withSums ? pieces.states : pieces.states - 1;
    for (let i = 0; i < pieces.count; ++i) {
      if (pieces.what[i]! > last) continue;
      if (ends.length > 0 && ends.at(-1) === pieces.begins[i]) ends[ends.length - 1] = pieces.begins[i + 1]!;
      else {
        begins.push(pieces.begins[i]!);
        ends.push(pieces.begins[i + 1]!);
      }
    }
    this.begins = Float64Array.from(begins);
    this.ends = Float64Array.from(ends);
    this.before = new Float64Array(begins.length);
    for (let i = 1; i < begins.length; ++i) this.before[i] = this.before[i - 1]! + ends[i - 1]! - begins[i - 1]!;
  }

  /** @param cursor of one who asks about later and later times */
  upTo(ns: number, cursor = { at: -1 }): number {
    const i = (cursor.at = seekFrom(this.begins, ns, cursor.at, false));
    return i < 0 ? 0 : this.before[i]! + Math.min(ns, this.ends[i]!) - this.begins[i]!;
  }
  addAt(times: Float64Array, out: Float64Array): void {
    let i = -1;
    for (let k = 0; k < times.length; ++k) {
      i = seekFrom(this.begins, times[k]!, i, false);
      if (i >= 0) out[k]! += this.before[i]! + Math.min(times[k]!, this.ends[i]!) - this.begins[i]!;
    }
  }
}

/** ns in a state. */
export class StateTrack implements Track {
  constructor(
    private readonly row: EventRow,
    private readonly state: number,
    private readonly withSums: boolean,
  ) {}
  addAt(times: Float64Array, out: Float64Array): void {
    const { states: pieces } = this.row;
    if (pieces.count === 0) return;
    for (let k = 0, piece = 0; k < times.length; ++k) {
      piece = pieces.seek(times[k]!, piece);
      out[k]! += pieces.timeBefore(times[k]!, piece, this.state, this.withSums);
    }
  }
}

/** ns in some calls, or their number; a call counts by parts while it runs. Calls inside others of the same kind count with these. */
class CallTrack implements Track {
  private readonly list: Uint32Array;
  private readonly begins: Float64Array;
  private readonly before: Float64Array;

  constructor(
    private readonly row: EventRow,
    private readonly known: Known,
    wanted: (call: number) => boolean,
    private readonly isNumber: boolean,
  ) {
    const { begin, end } = row.calls,
      list = new Uint32Array(begin.length),
      before = new Float64Array(begin.length),
      begins = new Float64Array(begin.length),
      cursor = { at: -1 };
    let n = 0,
      sum = 0;
    for (let c = 0, until = -Infinity; c < row.calls.runs; ++c) {
      if (!wanted(c) || (end[c]! <= until && begin[c]! < until)) continue;
      const time = -known.upTo(begin[c]!, cursor) + known.upTo(end[c]!, { at: cursor.at }),
        length = end[c]! - begin[c]!;
      if (length > 0 && time === 0) continue; // it lies where nothing is known
      list[n] = c;
      begins[n] = begin[c]!;
      before[n++] = sum;
      sum += !isNumber ? time : length > 0 ? time / length : 1;
      until = Math.max(until, end[c]!);
    }
    this.list = list.slice(0, n);
    this.begins = begins.slice(0, n);
    this.before = before.slice(0, n);
  }

  /** What it has come to in this call. */
  private part(i: number, ns: number): number {
    const c = this.list[i]!,
      { begin, end } = this.row.calls,
      length = end[c]! - begin[c]!;
    if (length === 0) return this.isNumber && ns > begin[c]! ? 1 : 0;
    const time = this.known.upTo(Math.min(ns, end[c]!)) - this.known.upTo(begin[c]!);
    return this.isNumber ? time / length : time;
  }
  addAt(times: Float64Array, out: Float64Array): void {
    let i = -1;
    for (let k = 0; k < times.length; ++k) {
      i = seekFrom(this.begins, times[k]!, i, true);
      if (i >= 0) out[k]! += this.before[i]! + this.part(i, times[k]!);
    }
  }
}

/** What jumps at some times, and grows between them as fast as is known then: messages, and counters that were read. */
export class StepTrack implements Track {
  /** @param values from each time on (until then: `start`); `slopes` per ns that is known */
  constructor(
    private readonly times: Float64Array,
    private readonly values: Float64Array,
    private readonly slopes: Float64Array | null = null,
    private readonly known: Known | null = null,
    private readonly start = 0,
  ) {}
  addAt(times: Float64Array, out: Float64Array): void {
    let i = -1;
    for (let k = 0; k < times.length; ++k) {
      const ns = times[k]!;
      i = seekFrom(this.times, ns, i, true);
      if (i < 0) out[k]! += this.start;
      else out[k]! += this.values[i]! + (this.slopes && this.slopes[i] !== 0 ? this.slopes[i]! * this.since(ns, this.times[i]!) : 0);
    }
  }
  private since(ns: number, from: number): number {
    return this.known ? this.known.upTo(ns) - this.known.upTo(from) : ns - from;
  }
}

/** The values of a counter at some times of a row: straight lines between them. */
export function counterTrack(times: Float64Array, values: Float64Array): Track {
  const slopes = values.map((value, i) => (i + 1 < values.length ? (values[i + 1]! - value) / Math.max(1, times[i + 1]! - times[i]!) : 0));
  return new StepTrack(times, values, slopes, null, values[0] ?? 0);
}

/** Where curves get their tracks from. */
export interface TrackSource {
  readonly names: Names;
  readonly events: Events;
  /** How much of the time is known. */
  known(row: number, withSums: boolean): Track;
  of(row: number, series: Series, name: string, from: Span | null, to: Span | null, withSums: boolean): Track;
}

/** All tracks of a page, made when they are first asked for. */
export class Tracks implements TrackSource {
  readonly names: Names;
  private readonly knowns = new Map<string, Known>();
  private readonly tracks = new Map<string, Track>();
  private readonly nodesOf = new Map<string, Uint8Array>();
  private sentBy: number[][] | null = null; // messages by row
  private receivedBy: number[][] | null = null;

  constructor(
    private readonly data: Data,
    readonly events: Events,
  ) {
    const ofNode = new Float64Array(data.header.nodes.name.length),
      time = new Map<string, number>();
    for (const { calls } of events.rows) for (let c = 0; c < calls.runs; ++c) ofNode[calls.node[c]!]! += 1 + calls.end[c]! - calls.begin[c]!;
    ofNode.forEach((ns, node) => {
      const name = shortName(data.header.nodes.name[node]!);
      if (ns > 0 && node > 0) time.set(name, (time.get(name) ?? 0) + ns);
    });
    this.names = {
      states: data.header.events!.states.map(({ key }) => key),
      functions: [...time.entries()].sort((a, b) => b[1] - a[1]).map(([name]) => name), // most time first
      counters: events.counters?.map(({ name, unit }) => ({ name, unit })) ?? [],
      hasTasks: events.tasks.count > 0,
      hasNodes: !!events.tasks.places,
    };
  }

  known(row: number, withSums: boolean): Known {
    const key = `${row} ${withSums}`;
    let known = this.knowns.get(key);
    if (!known) this.knowns.set(key, (known = new Known(this.events.rows[row]!, withSums)));
    return known;
  }

  of(row: number, series: Series, name: string, from: Span | null, to: Span | null, withSums: boolean): Track {
    const key = JSON.stringify([row, series, name, from, to, withSums]);
    let track = this.tracks.get(key);
    if (!track) {
      if (this.tracks.size > 20000) this.tracks.clear();
      this.tracks.set(key, (track = this.make(row, series, name, from, to, withSums)));
    }
    return track;
  }

  private make(row: number, series: Series, name: string, from: Span | null, to: Span | null, withSums: boolean): Track {
    const one = this.events.rows[row]!,
      state = this.names.states.indexOf(name);
    if (series === "counter") {
      const counter = this.events.counters?.find((c) => c.name === name)?.rows[row];
      return counterTrack(counter?.times ?? new Float64Array(0), counter?.values ?? new Float64Array(0));
    }
    if (series === "time" && state >= 0) return new StateTrack(one, state, withSums);
    if (series === "time" || series === "calls") {
      const nodes = this.nodes(name),
        wanted = state >= 0 ? (c: number): boolean => one.calls.state[c] === state : (c: number): boolean => nodes[one.calls.node[c]!] === 1;
      return new CallTrack(one, this.known(row, false), wanted, series === "calls");
    }
    if (series === "accesses" || series === "remote" || series === "reads" || series === "writes") return this.accesses(row, series, from, to);
    if (series === "flight") return this.flight(row, from, to);
    return this.messages(row, series, from, to);
  }

  /** Accesses of complete tasks whose longest stretch ends on a row, when it ends: both nodes are known, and in these ranges. */
  private accesses(row: number, series: Accessing, from: Span | null, to: Span | null): Track {
    const { tasks, rows } = this.events,
      places = tasks.places!,
      { calls } = rows[row]!,
      isIn = (span: Span | null, node: number): boolean => !span || (node >= span[0] && node < span[1]),
      steps: [number, number][] = [];
    for (let t = 0; t < tasks.count; ++t) {
      const worker = places.ofTask[t]!,
        run = tasks.longestRun(t, rows);
      if (worker < 0 || run < 0 || tasks.runRow[run] !== row || !isIn(from, worker)) continue;
      let count = 0;
      for (let d = tasks.firstDependence[t]!; d < tasks.firstDependence[t + 1]!; ++d) {
        const data = places.ofData[d]!,
          access = series === "reads" ? "read" : series === "writes" ? "written" : "";
        if (data >= 0 && isIn(to, data) && isAccess(tasks.kinds[d]!, access) && (series !== "remote" || data !== worker)) ++count;
      }
      if (count > 0) steps.push([calls.end[tasks.runCall[run]!]!, count]);
    }
    steps.sort((a, b) => a[0] - b[0]);
    const values = new Float64Array(steps.length);
    steps.forEach(([, count], i) => (values[i] = (values[i - 1] ?? 0) + count));
    return new StepTrack(
      Float64Array.from(steps, ([ns]) => ns),
      values,
    );
  }

  /** By node, whether it has such a name. */
  private nodes(name: string): Uint8Array {
    let nodes = this.nodesOf.get(name);
    if (!nodes)
      this.nodesOf.set(name, (nodes = Uint8Array.from(this.data.header.nodes.name, (own, node) => (node > 0 && matches(name, shortName(own)) ? 1 : 0))));
    return nodes;
  }

  /** Messages of a row in the order of `time`, between these ranks. */
  private between(lists: number[][], row: number, from: Span | null, to: Span | null, time: (m: number) => number): { times: Float64Array; list: number[] } {
    const { messages } = this.events,
      isIn = (span: Span | null, rank: number): boolean => !span || (rank >= span[0] && rank < span[1]),
      list = lists[row]!.filter((m) => isIn(from, messages.from[m]!) && isIn(to, messages.to[m]!)).sort((a, b) => time(a) - time(b));
    return { times: Float64Array.from(list, (m) => this.events.rows[row]!.own(time(m))), list };
  }

  private messages(row: number, series: Series, from: Span | null, to: Span | null): Track {
    const { messages, rows } = this.events,
      isReceived = series === "received";
    if (!this.sentBy || !this.receivedBy) {
      const [sentBy, receivedBy] = [rows.map((): number[] => []), rows.map((): number[] => [])];
      for (let m = 0; m < messages.count; ++m) {
        const [sender, receiver] = [messages.sender[m]!, messages.receiver[m]!];
        if (!messages.isCountedElsewhere[m]) sentBy[sender >= 0 ? sender : receiver]!.push(m); // of one whose sender is not known, when it is there
        if (receiver >= 0) receivedBy[receiver]!.push(m);
      }
      [this.sentBy, this.receivedBy] = [sentBy, receivedBy];
    }
    const time = (m: number): number => (isReceived || messages.sender[m]! < 0 ? messages.received[m]! : messages.sent[m]!),
      { times, list } = this.between(isReceived ? this.receivedBy : this.sentBy, row, from, to, time),
      values = new Float64Array(list.length);
    list.forEach((m, i) => (values[i] = (values[i - 1] ?? 0) + (series === "messages" ? 1 : messages.bytes[m]!)));
    return new StepTrack(times, values);
  }

  /** ns that messages have been on their way, of those whose both ends are known. */
  private flight(row: number, from: Span | null, to: Span | null): Track {
    this.messages(row, "messages", from, to);
    const { messages, rows } = this.events,
      isWhole = (m: number): boolean => messages.sender[m] === row && messages.received[m]! > messages.sent[m]!,
      { list } = this.between(this.sentBy!, row, from, to, (m) => messages.sent[m]!),
      ends = list.filter(isWhole).flatMap((m) => [[rows[row]!.own(messages.sent[m]!), 1] as const, [rows[row]!.own(messages.received[m]!), -1] as const]);
    ends.sort((a, b) => a[0] - b[0]);
    const known = this.known(row, false),
      times = Float64Array.from(ends, ([ns]) => ns),
      values = new Float64Array(ends.length),
      levels = new Float64Array(ends.length);
    ends.forEach(([ns, change], i) => {
      levels[i] = (levels[i - 1] ?? 0) + change;
      if (i > 0) values[i] = values[i - 1]! + levels[i - 1]! * (known.upTo(ns) - known.upTo(times[i - 1]!));
    });
    return new StepTrack(times, values, levels, known);
  }
}
