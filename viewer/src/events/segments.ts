// What one thread did, as pieces of time that follow each other, and their sums between any two times.
//
// Sums are exact: every 16th piece has the sums of all pieces before it, in whole ns.

const every = 16;

/** What a piece is: a state from 0 on, iterations of which the sums are known (`summed`), or nothing known (`unknown`). */
export class Segments {
  readonly count: number;
  private readonly before: Float64Array; // of each block: sums of the states, then of the states in summed stretches
  private readonly longest: Float64Array; // of each block
  readonly width: number;

  /** @param begins of the pieces, and the end of the last one; `owner` is the number of the call, or of the stretch; -1: none */
  constructor(
    readonly begins: Float64Array,
    readonly what: Uint8Array,
    readonly owner: Int32Array,
    readonly states: number,
    private readonly stretchSums: Float64Array, // by stretch, then state
    private readonly duration: (call: number) => number,
    /** Of pieces that are no calls but have some: how long the longest one takes. */
    private readonly longestIn: Float64Array | null = null,
  ) {
    this.count = what.length;
    this.width = 2 * states;
    const blocks = Math.ceil(this.count / every);
    this.before = new Float64Array((blocks + 1) * this.width);
    this.longest = new Float64Array(blocks);
    const sums = new Float64Array(this.width);
    for (let block = 0, i = 0; block < blocks; ++block) {
      this.before.set(sums, block * this.width);
      let longest = 0;
      for (const end = Math.min(this.count, i + every); i < end; ++i) {
        const state = what[i]!;
        if (state < states) {
          sums[state]! += begins[i + 1]! - begins[i]!;
          if (longestIn) longest = Math.max(longest, longestIn[i]!);
          else if (owner[i]! >= 0) longest = Math.max(longest, duration(owner[i]!));
        } else if (state === states) this.addPiece(sums, i, 1);
      }
      this.longest[block] = longest;
    }
    this.before.set(sums, blocks * this.width);
  }

  private longestAt = (i: number): number => (this.longestIn ? this.longestIn[i]! : this.isCall(i) ? this.duration(this.owner[i]!) : 0);
  isCall = (i: number): boolean => this.what[i]! < this.states && this.owner[i]! >= 0;
  isSummed = (i: number): boolean => this.what[i] === this.states;

  private addPiece(sums: Float64Array, i: number, part: number): void {
    const what = this.what[i]!;
    if (what < this.states) sums[what]! += (this.begins[i + 1]! - this.begins[i]!) * part;
    else if (what === this.states) {
      const at = this.owner[i]! * this.states;
      for (let s = 0; s < this.states; ++s) sums[this.states + s]! += this.stretchSums[at + s]! * part;
    }
  }

  /** The piece at a time; -1 before the first and after the last one. */
  at(ns: number): number {
    const { begins, count } = this;
    if (count === 0 || ns < begins[0]! || ns >= begins[count]!) return -1;
    let low = 0,
      high = count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (begins[middle]! <= ns) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The pieces that overlap two times: first, end. */
  range(from: number, to: number): [number, number] {
    const { begins, count } = this;
    if (count === 0 || to <= begins[0]! || from >= begins[count]!) return [0, 0];
    const first = Math.max(0, this.at(Math.max(from, begins[0]!))),
      last = to >= begins[count]! ? count - 1 : this.at(to);
    return [first, begins[last]! < to ? last + 1 : last];
  }

  /** ns of each state between two times, then the same from iterations of which only sums are known, in proportion. */
  sums(from: number, to: number, out = new Float64Array(this.width)): Float64Array {
    out.fill(0);
    const { begins } = this,
      [first, end] = this.range(from, to);
    for (let i = first; i < end;) {
      const length = begins[i + 1]! - begins[i]!;
      if (i % every === 0 && i + every <= end && begins[i]! >= from && begins[i + every]! <= to) {
        // Whole blocks at once.
        const blocks = Math.floor((end - i) / every),
          whole = begins[i + blocks * every]! <= to ? blocks : blocks - 1,
          a = (i / every) * this.width,
          b = a + whole * this.width;
        for (let s = 0; s < this.width; ++s) out[s]! += this.before[b + s]! - this.before[a + s]!;
        i += whole * every;
        continue;
      }
      const inside = Math.min(to, begins[i + 1]!) - Math.max(from, begins[i]!);
      this.addPiece(out, i, inside === length ? 1 : inside / length);
      ++i;
    }
    return out;
  }

  /** The piece at a time, or the first or last one.
   *  @param from a piece that is not later */
  seek(ns: number, from: number): number {
    const { begins, count } = this;
    let low = from,
      step = 1;
    while (low + step < count && begins[low + step]! <= ns) {
      low += step;
      step *= 2;
    }
    let high = Math.min(count, low + step);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (begins[middle]! <= ns) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The sums of all that is before a time in this piece. Differences of neighbours are those of pixels, up to roundings below 1 ns. */
  sumsBefore(ns: number, piece: number, out: Float64Array): void {
    const { begins, what, states, width, before } = this;
    if (this.count === 0 || ns <= begins[0]!) {
      out.fill(0);
      return;
    }
    const block = Math.floor(piece / every),
      at = block * width;
    for (let s = 0; s < width; ++s) out[s] = before[at + s]!;
    for (let i = block * every; i < piece; ++i) {
      const state = what[i]!;
      if (state < states) out[state]! += begins[i + 1]! - begins[i]!;
      else if (state === states) this.addPiece(out, i, 1);
    }
    this.addPiece(out, piece, Math.min(1, (ns - begins[piece]!) / (begins[piece + 1]! - begins[piece]!)));
  }

  /** The time in one state before a time in this piece, with or without that of iterations of which only sums are known. */
  timeBefore(ns: number, piece: number, state: number, withSummed: boolean): number {
    const { begins, what, states, width, before } = this;
    if (this.count === 0 || ns <= begins[0]!) return 0;
    const start = Math.floor(piece / every) * every,
      at = (start / every) * width,
      stretch = (i: number): number => (withSummed && what[i] === states ? this.stretchSums[this.owner[i]! * states + state]! : 0);
    let sum = before[at + state]! + (withSummed ? before[at + states + state]! : 0);
    for (let i = start; i < piece; ++i) sum += what[i] === state ? begins[i + 1]! - begins[i]! : stretch(i);
    const part = Math.min(1, (ns - begins[piece]!) / (begins[piece + 1]! - begins[piece]!));
    return sum + part * (what[piece] === state ? begins[piece + 1]! - begins[piece]! : stretch(piece));
  }

  /** The duration of the longest call of these pieces; 0 if there is none. */
  longestCall(first: number, end: number): number {
    let most = 0;
    for (let i = first; i < end;) {
      if (i % every === 0 && i + every <= end) {
        most = Math.max(most, this.longest[i / every]!);
        i += every;
        continue;
      }
      most = Math.max(most, this.longestAt(i));
      ++i;
    }
    return most;
  }
}

/** A stretch of time of which all events are there, or sums only. */
export interface Base {
  begin: number;
  end: number;
  stretch: number; // -1: events
}

/** Lays calls over what is known; the innermost call counts. Calls come in the order of their begins, outer ones first. */
export function flattened(
  bases: Base[],
  calls: { begin: Float64Array; end: Float64Array; state: ArrayLike<number> },
  chosen: ArrayLike<number>,
  states: number,
): { begins: Float64Array; what: Uint8Array; owner: Int32Array } {
  const begins: number[] = [],
    what: number[] = [],
    owner: number[] = [];
  const start = bases.length > 0 ? bases[0]!.begin : 0,
    end = bases.length > 0 ? bases.at(-1)!.end : 0;
  const piece = (from: number, to: number, state: number, of: number): void => {
    if (to <= from) return;
    const last = what.length - 1;
    if (last >= 0 && what[last] === state && owner[last] === of) return; // it goes on
    begins.push(from);
    what.push(state);
    owner.push(of);
  };
  let base = 0,
    time = start;
  /** Up to a time the thread is in a call, or in none. */
  const upTo = (to: number, call: number): void => {
    to = Math.min(to, end);
    while (time < to) {
      while (base < bases.length && bases[base]!.end <= time) ++base;
      const here = bases[base]!;
      if (here.begin > time) {
        const until = Math.min(to, here.begin);
        piece(time, until, states + 1, -1);
        time = until;
        continue;
      }
      const until = Math.min(to, here.end);
      if (here.stretch >= 0) piece(time, until, states, here.stretch);
      else piece(time, until, call < 0 ? 0 : calls.state[call]!, call);
      time = until;
    }
  };
  const open: number[] = [];
  const close = (ns: number): void => {
    while (open.length > 0 && calls.end[open.at(-1)!]! <= ns) {
      const top = open.pop()!;
      upTo(calls.end[top]!, top);
    }
  };
  for (let k = 0; k < chosen.length; ++k) {
    const call = chosen[k]!;
    close(calls.begin[call]!);
    upTo(calls.begin[call]!, open.at(-1) ?? -1);
    open.push(call);
  }
  close(Infinity);
  upTo(end, -1);
  begins.push(end);
  return { begins: Float64Array.from(begins), what: Uint8Array.from(what), owner: Int32Array.from(owner) };
}
