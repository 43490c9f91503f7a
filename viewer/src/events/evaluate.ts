// The values of a derived metric in intervals of time that follow each other. Interval i is from i * every to (i + 1) * every ns of the axis.
import { needsEvents, type Expression } from "./expression";
import type { TrackSource } from "./tracks";

/** Where it is evaluated: threads, and the ends of the intervals. */
interface Scope {
  rows: number[];
  edges: Float64Array; // on the axis
}

export class Evaluator {
  private readonly withSums: boolean;
  private readonly knownCells = new Map<string, { time: Float64Array; rows: Float64Array }>();
  private edges = new Float64Array(0);
  private own: Float64Array[] = []; // the edges on the rows' clocks

  constructor(
    private readonly tracks: TrackSource,
    private readonly expression: Expression,
  ) {
    this.withSums = !needsEvents(expression, tracks.names);
  }

  /** NaN where nothing is known, or a quotient has no value. */
  values(first: number, end: number, every: number): Float64Array {
    const n = Math.max(0, end - first),
      { rows } = this.tracks.events;
    this.edges = Float64Array.from({ length: n + 1 }, (_, i) => (first + i) * every);
    this.own = [];
    this.knownCells.clear();
    const scope: Scope = { rows: [...rows.keys()], edges: this.edges },
      known = this.known(scope).rows,
      out = this.cells(this.expression, scope);
    return out.map((value, i) => (known[i]! > 0 && isFinite(value) ? value : NaN));
  }

  private ownEdges(row: number): Float64Array {
    return (this.own[row] ??= this.edges.map((ns) => this.tracks.events.rows[row]!.own(ns)));
  }

  /** How much of each interval is known, ns of all threads, and of how many threads some is known. */
  private known({ rows, edges }: Scope): { time: Float64Array; rows: Float64Array } {
    const key = rows.length > 1 ? rows.join() : String(rows[0]),
      kept = this.knownCells.get(key);
    if (kept) return kept;
    const n = edges.length - 1,
      sums = { time: new Float64Array(n), rows: new Float64Array(n) },
      before = new Float64Array(n + 1);
    for (const row of rows) {
      before.fill(0);
      this.tracks.known(row, this.withSums).addAt(this.ownEdges(row), before);
      for (let i = 0; i < n; ++i) {
        const ns = before[i + 1]! - before[i]!;
        if (ns < 1e-3) continue; // rounding
        sums.time[i]! += ns;
        ++sums.rows[i]!;
      }
    }
    this.knownCells.set(key, sums);
    return sums;
  }

  /** At the ends of the intervals; of totals and numbers. */
  private totals(e: Expression, scope: Scope): Float64Array {
    const out = new Float64Array(scope.edges.length);
    switch (e.kind) {
      case "number":
        return out.fill(e.value);
      case "series": {
        for (const row of scope.rows) this.tracks.of(row, e.series, e.name, e.from, e.to, this.withSums).addAt(this.ownEdges(row), out);
        if (e.series === "time" || e.series === "flight") for (let i = 0; i < out.length; ++i) out[i]! /= 1e9;
        return out;
      }
      case "operation": {
        const [left, right] = [this.totals(e.left, scope), this.totals(e.right, scope)];
        return combined(e.operator, left, right);
      }
      case "over":
        return over(
          e.how,
          scope.rows.map((row) => this.totals(e.of, { ...scope, rows: [row] })),
          null,
          out,
        );
      case "on":
        return this.totals(e.of, this.on(e.ranks, scope));
      default:
        throw new Error(`${e.kind} is no total`);
    }
  }

  private cells(e: Expression, scope: Scope): Float64Array {
    const n = scope.edges.length - 1;
    switch (e.kind) {
      case "number":
        return new Float64Array(n).fill(e.value);
      case "dt": {
        const { time, rows } = this.known(scope);
        return time.map((ns, i) => ns / rows[i]! / 1e9);
      }
      case "known":
        return this.known(scope).rows.slice();
      case "series":
        return this.totals(e, scope).slice(1);
      case "difference": {
        const totals = this.totals(e.of, scope),
          out = new Float64Array(n);
        for (let i = 0; i < n; ++i) out[i] = totals[i + 1]! - totals[i]!;
        return out;
      }
      case "operation":
        return combined(e.operator, this.cells(e.left, scope), this.cells(e.right, scope));
      case "over": {
        const scopes = scope.rows.map((row) => ({ ...scope, rows: [row] }));
        return over(
          e.how,
          scopes.map((one) => this.cells(e.of, one)),
          scopes.map((one) => this.known(one).rows),
          new Float64Array(n),
        );
      }
      case "on":
        return this.cells(e.of, this.on(e.ranks, scope));
    }
  }

  private on(ranks: [number, number] | null, scope: Scope): Scope {
    if (!ranks) return scope;
    const { rows } = this.tracks.events;
    return { ...scope, rows: scope.rows.filter((row) => rows[row]!.rank >= ranks[0] && rows[row]!.rank < ranks[1]) };
  }
}

function combined(operator: string, left: Float64Array, right: Float64Array): Float64Array {
  const out = left.slice();
  for (let i = 0; i < out.length; ++i) {
    const [a, b] = [left[i]!, right[i]!];
    out[i] = operator === "+" ? a + b : operator === "-" ? a - b : operator === "*" ? a * b : a / b;
  }
  return out;
}

/** Of the threads that have a value. @param known how much of them is known; null: all */
function over(how: "sum" | "mean" | "min" | "max", values: Float64Array[], known: Float64Array[] | null, out: Float64Array): Float64Array {
  for (let i = 0; i < out.length; ++i) {
    let sum = 0,
      least = Infinity,
      most = -Infinity,
      count = 0;
    for (let k = 0; k < values.length; ++k) {
      const value = values[k]![i]!;
      if ((known && !(known[k]![i]! > 0)) || Number.isNaN(value)) continue;
      sum += value;
      least = Math.min(least, value);
      most = Math.max(most, value);
      ++count;
    }
    out[i] = count === 0 ? NaN : how === "sum" ? sum : how === "mean" ? sum / count : how === "min" ? least : most;
  }
  return out;
}
