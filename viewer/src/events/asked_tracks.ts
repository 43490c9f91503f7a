// Time in states, of a timeline that is larger than the page: what curves are made of there. The server sums up the events of each interval.
import { ask, numbersOf } from "../columns";
import type { Data } from "../data";
import { messageOf } from "../dom";
import type { Names, Series } from "./expression";
import type { EventRow, Events } from "./rows";
import { counterTrack, Known, StateTrack, type Track, type TrackSource } from "./tracks";

/** Intervals of all rows times ends of rows: what one question asks for, so that pictures do not wait for its answer. */
const mostAtOnce = 1500,
  patience = 150; // ms

interface Grid {
  first: number; // intervals
  end: number;
  every: number; // ns
}
const covers = (a: Grid | null, b: Grid): boolean => !!a && a.every === b.every && a.first <= b.first && a.end >= b.end;

const nothing: Track = { addAt: () => {} };

/** Several together. */
const sumOf = (tracks: Track[]): Track => ({ addAt: (times, out) => tracks.forEach((track) => track.addAt(times, out)) });

export class AskedTracks implements TrackSource {
  readonly names: Names;
  private grid: Grid | null = null; // what is known
  private totals: Float64Array[][] = []; // of this, by row and state: ns at the ends of the intervals
  private wanted: Grid | null = null;
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
    this.names = { states: data.header.events!.states.map(({ key }) => key), functions: [], counters: [], hasStatesOnly: true };
  }

  /** All that is shown is known. */
  get isWhole(): boolean {
    return !!this.wanted && covers(this.grid, this.wanted);
  }

  /** Tells what is shown now. */
  want(first: number, end: number, every: number): void {
    this.wanted = { first: Math.max(0, first), end, every };
    if (covers(this.grid, this.wanted)) this.missing = "";
    else if (!this.isAsking && performance.now() >= this.retryAt) void this.go();
  }

  private async go(): Promise<void> {
    this.isAsking = true;
    try {
      while (this.wanted && !covers(this.grid, this.wanted)) {
        const wanted = this.wanted;
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
  private track(row: EventRow, sums: Float64Array): Track {
    const { first, every } = this.grid!;
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

  of(r: number, _series: Series, name: string, _from: unknown, _to: unknown, withSums: boolean): Track {
    const row = this.events.rows[r]!,
      state = this.names.states.indexOf(name),
      sums = this.totals[r]?.[state];
    return sums ? sumOf([this.track(row, sums), new StateTrack(row, state, withSums)]) : nothing;
  }
}
