// Pictures of a timeline that is too large for the page: what is shown is asked for, and the last answers are kept.
import { ask } from "../columns";
import type { Data } from "../data";
import { $, messageOf } from "../dom";
import { percent } from "../format";
import type { EventsHeader } from "../header";
import { filterCode, filterQuestion, type EventFilter } from "./filter";
import type { Pieces } from "./pieces";
import { readEvents, type EventRow, type Events } from "./rows";
import type { Span } from "../selection";
import type { EventSpan } from "../state";
import { isIteration, matrixOf, type Matrix, type Shares } from "./shares";
import { byTime, type Durations, type Statistics } from "./statistics";
import { typeWords } from "./task_words";
import { functionName } from "./words";

/** More of the time is asked for than is shown, on each side, so that moving has something to show. */
const margin = 0.25,
  mostKept = 12,
  patience = 150; // ms

interface Picture {
  from: number;
  to: number;
  pixels: number;
  locations: string;
  isExact: boolean;
  of: string; // what is asked for: a filter, and types of tasks
  events: Events;
}
/** How far a count is. */
interface Counting {
  counting: string;
  share: number;
}
/** What a picture is to show. */
export interface What {
  filter: EventFilter;
  byType: boolean; // of tasks
}
const whatCode = ({ filter, byType }: What): string => `${filterCode(filter)}|${byType}`;
/** Calls of a function or tasks of a type, as the server counted them (tools/view/durations_entry.hpp). */
interface Counted {
  number: number;
  total: number;
  least: number;
  most: number;
  median: number;
  exact: boolean;
  bins: [number, number][];
}
interface CountedAll {
  calls: (Counted & { node: number })[];
  tasks: (Counted & { function: string; source: string; stolen: number })[];
  incomplete: number;
  too_long: number;
  unfinished: number;
  error: number;
}
export interface Wanted {
  moment: [number, number];
  width: number; // pixels
  rows: EventRow[];
  what: What;
}

const isSame = (a: Wanted, b: Wanted): boolean =>
  a.moment[0] === b.moment[0] &&
  a.moment[1] === b.moment[1] &&
  a.width === b.width &&
  a.rows.length === b.rows.length &&
  a.rows[0]?.location === b.rows[0]?.location &&
  whatCode(a.what) === whatCode(b.what);

export class AskedEvents {
  private kept: Picture[] = []; // the newest last
  private wanted: Wanted | null = null;
  private isAsking = false;
  private retryAt = 0;
  shown: Picture | null = null;
  /** What is waited for, or what is wrong, where nothing can be shown; empty: nothing. */
  missing = "";

  /** @param onChange something else can be shown; @param onMissing `missing` is another one */
  constructor(
    private readonly data: Data,
    readonly first: Events, // rows without events
    private readonly onChange: (events: Events) => void,
    private readonly onMissing: () => void,
  ) {}

  /** Tells what is shown now. */
  want(wanted: Wanted): void {
    if (this.wanted && whatCode(this.wanted.what) !== whatCode(wanted.what)) [this.retryAt, this.missing] = [0, ""]; // what was refused is no longer asked for
    if (!this.wanted || !isSame(this.wanted, wanted)) this.wanted = wanted;
    if (this.shown && this.shown.of !== whatCode(wanted.what)) {
      this.shown = null; // it says something else
      this.onChange(this.first);
    }
    if (!this.isAsking && performance.now() >= this.retryAt) void this.go();
  }

  private locationsOf = (wanted: Wanted): string => wanted.rows.map((row) => row.location).join(",");

  /** A kept picture that has all of it, as fine as it is shown. */
  private find(wanted: Wanted, isExact: boolean): Picture | undefined {
    const [t0, t1] = wanted.moment,
      perPixel = (t1 - t0) / wanted.width,
      locations = this.locationsOf(wanted),
      isFine = (p: Picture): boolean => p.isExact && p.events.areWhole;
    return this.kept.findLast(
      (p) =>
        p.locations === locations &&
        p.of === whatCode(wanted.what) &&
        p.from <= Math.max(0, t0) &&
        p.to >= Math.min(t1, this.end) &&
        (isFine(p) || (p.to - p.from) / p.pixels <= perPixel * 1.01) &&
        (p.isExact || !isExact),
    );
  }
  private get end(): number {
    return this.data.header.events!.end;
  }

  private async go(): Promise<void> {
    this.isAsking = true;
    try {
      while (this.wanted) {
        const wanted = this.wanted,
          known = this.find(wanted, true) ?? this.find(wanted, false);
        if (known && known !== this.shown) this.show(known);
        else if (known && this.missing) this.tellMissing(""); // of another view, which is no longer wanted
        if (known?.isExact) break;
        // At once what comes soon, then what is exact, unless the view moves on.
        if (known) await new Promise((resolve) => setTimeout(resolve, patience));
        if (this.wanted !== wanted) continue;
        const picture = await this.obtain(wanted, known !== undefined);
        if (!picture) continue;
        this.kept.push(picture);
        if (this.kept.length > mostKept) this.kept.shift();
        if (known) picture.isExact = true; // no other answer would be more so
        if (this.wanted === wanted) this.show(picture);
      }
    } catch (error) {
      this.retryAt = performance.now() + 2000;
      this.tellMissing(messageOf(error));
      $("events-readout").textContent = this.missing;
    }
    this.isAsking = false;
  }

  private tellMissing(text: string): void {
    this.missing = text;
    this.onMissing();
  }

  private show(picture: Picture): void {
    this.missing = "";
    this.shown = picture;
    this.onChange(picture.events);
  }

  /** null: something else is wanted meanwhile. */
  private async obtain(wanted: Wanted, isFine: boolean): Promise<Picture | null> {
    const [t0, t1] = wanted.moment,
      more = margin * (t1 - t0),
      from = Math.max(0, t0 - more),
      to = Math.max(from + 1, Math.min(this.end, t1 + more)),
      pixels = Math.max(1, Math.min(20000, Math.ceil(((to - from) / (t1 - t0)) * wanted.width))),
      locations = this.locationsOf(wanted),
      { filter, byType } = wanted.what,
      question = { from, to, pixels, rows: locations, ...(isFine ? { fine: 1 } : {}), ...(byType ? { by_type: 1 } : {}), ...filterQuestion(filter) };
    for (;;) {
      const answer = (await ask<{ events: EventsHeader | Counting }>("timeline", question)).events;
      if (!("counting" in answer)) {
        const events = await readEvents(this.data.header, answer, this.first.rows);
        return { from, to, pixels, locations, isExact: answer.exact === true, of: whatCode(wanted.what), events };
      }
      if (this.wanted !== wanted) return null;
      this.tellMissing(countingWords(answer));
    }
  }

  /** Of all threads, by the server, without the matrix. */
  async shares(span: EventSpan, pieces: Pieces, isWanted: () => boolean, tell: (progress: string) => void): Promise<Shares | null> {
    const header = this.data.header.events!,
      n = header.states.length,
      states = new Float64Array(n),
      summed = new Float64Array(n),
      { passing } = pieces,
      answer = await counted<{ sums: number[][]; passing?: number[][]; spans?: (Span | null)[] }>("timeline_sums", span, passing.filter, isWanted, tell);
    if (!answer) return null;
    const { sums, spans } = answer,
      places = this.first.rows.map((row): Span | null => (spans ? spans[row.location]! : isIteration(span) ? null : [span.from, span.to])),
      known = places.filter((place) => place !== null),
      from = Math.min(...known.map(([begin]) => begin)),
      to = Math.max(...known.map(([, end]) => end));
    let [rows, all] = [0, 0];
    this.first.rows.forEach((row, r) => {
      const place = places[r];
      if (!place) return;
      const here = row.states.sums(row.own(place[0]), row.own(place[1])),
        of = sums[row.location]!,
        passes = !passing.isActive || passing.outside(r);
      states.forEach((_, s) => {
        states[s]! += (answer.passing?.[row.location] ?? of)[s]!;
        summed[s]! += passes ? here[n + s]! : 0;
        all += of[s]! + here[n + s]!;
      });
      if (of.some((ns) => ns > 0) || here.some((ns) => ns > 0)) ++rows;
    });
    if (rows === 0) return null;
    const task = header.states.findIndex(({ key }) => key === "task"),
      inThem = [...states, ...summed].reduce((sum, ns, s) => sum + (passing.isActive || s % n === 0 || s % n === task ? ns : 0), 0);
    return { from, to, rows, states, summed, all, parallelism: inThem / (to - from), matrix: null };
  }

  /** Who sends how much to whom, of all threads, as durations(). */
  async matrix(span: EventSpan, filter: EventFilter, isWanted: () => boolean, tell: (progress: string) => void): Promise<Matrix | null> {
    const answer = await counted<{ messages: [number, number, number, number][] }>("timeline_messages", span, filter, isWanted, tell);
    return answer && matrixOf(answer.messages.map(([from, to, count, bytes]) => ({ from, to, count, bytes })));
  }

  /** Of all threads. The server counts as long as it is asked to. @param isWanted else nothing more is asked, and null is the answer */
  async durations(span: EventSpan, filter: EventFilter, isWanted: () => boolean, tell: (progress: string) => void): Promise<Durations | null> {
    const answer = await counted<CountedAll>("timeline_durations", span, filter, isWanted, tell);
    if (!answer) return null;
    const told = (name: string, one: Counted, stolen: number): Statistics => ({
      name,
      count: one.number,
      durations: null,
      bins: new Map(one.bins),
      total: one.total,
      mean: one.total / one.number,
      median: one.median,
      error: one.exact ? 0 : answer.error,
      least: one.least,
      most: one.most,
      stolen,
    });
    return {
      calls: answer.calls.map((one) => told(functionName(this.data, one.node), one, 0)).sort(byTime),
      tasks: answer.tasks.map((one) => told(typeWords(one), one, one.stolen)).sort(byTime),
      incomplete: answer.incomplete,
      tooLong: answer.too_long,
      unfinished: answer.unfinished,
    };
  }
}

const placeOf = (span: EventSpan): Record<string, number> =>
  isIteration(span) ? { phase: span.phase, iteration: span.number } : { from: span.from, to: span.to };

const countingWords = ({ counting, share }: Counting): string => `Counting ${counting} … ${percent(share)}`;

/** What the server counts as long as it is asked to. @param isWanted else nothing more is asked, and null is the answer */
async function counted<Answer extends object>(
  question: string,
  span: EventSpan,
  filter: EventFilter,
  isWanted: () => boolean,
  tell: (progress: string) => void,
): Promise<Answer | null> {
  for (;;) {
    const answer = await ask<Answer | Counting>(question, { ...placeOf(span), ...filterQuestion(filter) });
    if (!isWanted()) return null;
    if (!("counting" in answer)) return answer;
    tell(countingWords(answer));
  }
}
