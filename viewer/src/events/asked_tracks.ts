// What curves are made of in a timeline that is larger than the page. The server sums up the states of each interval, and counts all else step by step.
import { ask, numbersOf } from "../columns";
import type { Data } from "../data";
import { messageOf } from "../dom";
import { percent, shortName } from "../format";
import type { Names, Needed, Series, Span } from "./expression";
import type { EventRow, Events } from "./rows";
import { counterTrack, Known, StateTrack, type Track, type TrackSource } from "./tracks";

/** Intervals of all rows times ends of rows: what one question asks for, so that pictures do not wait for its answer. */
const mostAtOnce = 1500,
  mostCounted = 24, // series
  patience = 150; // ms

interface Grid {
  first: number; // intervals
  end: number;
  every: number; // ns
}
/** One that is no state. */
interface CountedSeries {
  grid: Grid;
  isTotal: boolean;
  values: Float64Array[]; // by location
}
const covers = (a: Grid | null, b: Grid): boolean => !!a && a.every === b.every && a.first <= b.first && a.end >= b.end;

const nothing: Track = { addAt: () => {} },
  unknown: Track = { addAt: (_, out) => out.fill(NaN) };

const keyOf = (series: Series, name: string, from: Span | null, to: Span | null): string => JSON.stringify([series, name, from, to]);
/** The last rank is not in a span. */
const ranksOf = (from: Span | null, to: Span | null): Record<string, number> => ({
  ...(from && { from_rank: from[0], end_from: from[1] }),
  ...(to && { to_rank: to[0], end_to: to[1] }),
});

/** Several together. */
const sumOf = (tracks: Track[]): Track => ({ addAt: (times, out) => tracks.forEach((track) => track.addAt(times, out)) });

export class AskedTracks implements TrackSource {
  readonly names: Names;
  private grid: Grid | null = null; // what is known
  private totals: Float64Array[][] = []; // of this, by row and state: ns at the ends of the intervals
  private readonly counted = new Map<string, CountedSeries>();
  private wanted: Grid | null = null;
  private needed: Needed[] = [];
  private isAsking = false;
  private retryAt = 0;
  /** Why nothing is shown; empty: it is all there. */
  missing = "";

  /** @param events rows of the page, with iterations without events; @param onChange more is known */
  constructor(
    data: Data,
    readonly events: Events,
    private readonly onChange: () => void,
  ) {
    const { states, called, counters, types, messages_known: hasSenders } = data.header.events!,
      functions = (called ?? []).filter((node) => node > 0).map((node) => shortName(data.header.nodes.name[node]!));
    this.names = {
      states: states.map(({ key }) => key),
      functions: [...new Set(functions)],
      counters: counters ?? [],
      hasTasks: types.length > 0,
      hasNoPairs: true,
      hasSenders,
    };
  }

  /** All that is shown is known. */
  get isWhole(): boolean {
    return !!this.wanted && covers(this.grid, this.wanted) && this.next(this.wanted) === undefined;
  }
  private isState = ({ series, name }: Needed): boolean => series === "time" && this.names.states.includes(name);
  /** A series that is not known there. */
  private next(grid: Grid): Needed | undefined {
    return this.needed.find((one) => {
      const known = this.counted.get(keyOf(one.series, one.name, one.from, one.to));
      return !this.isState(one) && !(known && covers(known.grid, grid) && (known.isTotal || !one.isTotal));
    });
  }

  /** Tells what is shown now. */
  want(first: number, end: number, every: number, needed: Needed[]): void {
    this.wanted = { first: Math.max(0, first), end, every };
    this.needed = needed;
    if (this.isWhole) this.missing = "";
    else if (!this.isAsking && performance.now() >= this.retryAt) void this.go();
  }

  private async go(): Promise<void> {
    this.isAsking = true;
    try {
      while (this.wanted && !this.isWhole) {
        const wanted = this.wanted;
        if (covers(this.grid, wanted)) {
          await this.count(this.next(wanted)!, wanted);
          continue;
        }
        this.missing = "asking for the sums of intervals …";
        await new Promise((resolve) => setTimeout(resolve, patience)); // until the view rests
        if (this.wanted !== wanted && !covers(wanted, this.wanted)) continue;
        const totals = await this.obtain(wanted);
        if (!totals) continue;
        [this.grid, this.totals, this.missing] = [wanted, totals, ""];
        this.onChange();
      }
    } catch (error) {
      this.missing = messageOf(error);
      this.retryAt = performance.now() + 2000;
      this.onChange();
    }
    this.isAsking = false;
  }

  /** One that is no state, unless the view moves on. */
  private async count(one: Needed, grid: Grid): Promise<void> {
    const { series, name, from, to, isTotal } = one,
      place = { from: grid.first * grid.every, every: grid.every, count: grid.end - grid.first },
      question = { ...place, series, name, ...ranksOf(from, to), ...(isTotal && { total: 1 }) };
    for (;;) {
      const answer = await ask<{ values: number[][] } | { counting: string; share: number }>("timeline_series", question);
      if ("values" in answer) {
        this.keep(keyOf(series, name, from, to), { grid, isTotal, values: answer.values.map((list) => Float64Array.from(list)) });
        this.missing = "";
        this.onChange();
        return;
      }
      if (this.wanted !== null && (!covers(grid, this.wanted) || this.next(grid) !== one)) return;
      this.missing = `counting ${answer.counting} … ${percent(answer.share)}`;
      this.onChange();
    }
  }

  /** The oldest one goes, but none that is needed: it would be asked for again and again. */
  private keep(key: string, own: CountedSeries): void {
    const needed = new Set(this.needed.map(({ series, name, from, to }) => keyOf(series, name, from, to)));
    this.counted.delete(key);
    const oldest = [...this.counted.keys()].find((one) => !needed.has(one));
    if (this.counted.size >= mostCounted && oldest !== undefined) this.counted.delete(oldest);
    this.counted.set(key, own);
  }

  /** null: the view moves on. */
  private async obtain(grid: Grid): Promise<Float64Array[][] | null> {
    const { rows } = this.events,
      n = grid.end - grid.first,
      states = this.names.states.length,
      atOnce = Math.max(1, Math.floor(mostAtOnce / (n + 1))),
      out: Float64Array[][] = [];
    for (let r = 0; r < rows.length; r += atOnce) {
      const some = rows.slice(r, r + atOnce),
        { totals } = await ask<{ totals: number }>("timeline_totals", {
          from: grid.first * grid.every,
          every: grid.every,
          count: n,
          rows: some.map(({ location }) => location).join(","),
        });
      if (this.wanted !== null && !covers(grid, this.wanted)) return null;
      const numbers = await numbersOf(totals);
      for (let i = 0, at = 0; i < some.length; ++i) {
        const own = Array.from({ length: states }, () => new Float64Array(n + 1));
        for (let k = 0; k <= n; ++k) for (let s = 0; s < states; ++s, ++at) own[s]![k] = numbers[at]! + (k > 0 ? own[s]![k - 1]! : 0);
        out.push(own);
      }
      this.missing = `summed up ${out.length} of ${rows.length} threads …`;
      this.onChange();
    }
    return out;
  }

  /** On the clock of a row. */
  private track(row: EventRow, sums: Float64Array, { first, every }: Grid = this.grid!): Track {
    return counterTrack(
      sums.map((_, k) => row.own((first + k) * every)),
      sums,
    );
  }

  known(r: number, withSums: boolean): Track {
    const row = this.events.rows[r]!,
      sums = this.totals[r];
    if (!sums || this.grid?.every !== this.wanted?.every) return nothing;
    const all = sums[0]!.map((_, k) => sums.reduce((sum, of) => sum + of[k]!, 0));
    return sumOf([this.track(row, all), new Known(row, withSums)]);
  }

  of(r: number, series: Series, name: string, from: Span | null, to: Span | null, withSums: boolean): Track {
    if (series !== "time" || !this.names.states.includes(name)) return this.countedTrack(this.events.rows[r]!, keyOf(series, name, from, to));
    const row = this.events.rows[r]!,
      state = this.names.states.indexOf(name),
      sums = this.totals[r]?.[state];
    return sums ? sumOf([this.track(row, sums), new StateTrack(row, state, withSums)]) : nothing;
  }

  /** No value where it is not known. */
  private countedTrack(row: EventRow, key: string): Track {
    const known = this.counted.get(key),
      values = known?.values[row.location];
    if (!known || known.grid.every !== this.wanted?.every) return unknown;
    if (!values || values.length === 0) return nothing;
    const { first, end, every } = known.grid,
      [from, to] = [row.own(first * every), row.own(end * every)],
      track = this.track(row, values, known.grid);
    return {
      addAt: (times, out) => {
        track.addAt(times, out);
        times.forEach((ns, k) => (ns < from || ns > to) && (out[k] = NaN));
      },
    };
  }
}
