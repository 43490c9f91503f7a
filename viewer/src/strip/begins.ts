// When iterations begin on each rank. This is all that the strip knows of their places in time.
import { numbersOf } from "../columns";
import type { PhaseHeader } from "../header";
import type { Span } from "../selection";

export class Begins {
  /** @param times by rank: the begins of every so manyth iteration, and the end of the last one, in ns */
  constructor(
    readonly times: Float64Array[],
    readonly counts: number[],
    readonly stride: number,
  ) {}

  /** When iteration `i` begins, or, if there is none, the last one ends. NaN if the rank has none. */
  of(rank: number, i: number): number {
    const times = this.times[rank],
      n = this.counts[rank] ?? 0;
    if (!times || n === 0) return NaN;
    if (i >= n) return times.at(-1)!;
    const at = Math.floor(i / this.stride),
      last = at === times.length - 2,
      width = last ? n - at * this.stride : this.stride;
    return times[at]! + ((times[at + 1]! - times[at]!) * (i - at * this.stride)) / width;
  }

  /** Where iterations of a rank lie, in ns, merged where they are closer than `least`. */
  places(rank: number, iterations: Span[], least: number): Span[] {
    const places: Span[] = [];
    for (const [from, to] of iterations) {
      const begin = this.of(rank, from),
        end = this.of(rank, to);
      if (!(end > begin)) continue;
      if (places.length > 0 && begin - places.at(-1)![1] < least) places.at(-1)![1] = end;
      else places.push([begin, end]);
    }
    return places;
  }

  /** The iteration at a time; -1 if there is none. */
  at(rank: number, ns: number): number {
    const times = this.times[rank],
      n = this.counts[rank] ?? 0;
    if (!times || n === 0 || ns < times[0]! || ns >= times.at(-1)!) return -1;
    let low = 0,
      high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle]! <= ns) low = middle;
      else high = middle;
    }
    const first = low * this.stride,
      width = Math.min(this.stride, n - first);
    return Math.min(n - 1, first + Math.floor((width * (ns - times[low]!)) / (times[low + 1]! - times[low]!)));
  }
}

export async function readBegins(header: NonNullable<PhaseHeader["begins"]>): Promise<Begins> {
  const numbers = await numbersOf(header.begins),
    times: Float64Array[] = [];
  let at = 0;
  for (const count of header.counts) {
    const length = count === 0 ? 0 : Math.ceil(count / header.stride) + 1,
      list = numbers.slice(at, (at += length));
    for (let i = 1; i < length; ++i) list[i]! += list[i - 1]!;
    times.push(list.map((v) => v * header.unit));
  }
  return new Begins(times, header.counts, header.stride);
}
