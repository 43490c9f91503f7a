// Which collective operation of its communicator a call is, and which rank came last.
import { numbersByName, unzigzag } from "../columns";
import { duration } from "../format";
import type { EventsHeader } from "../header";

export interface Collective {
  communicator: number; // in EventsHeader.communicators
  number: number; // from 1
  last: number; // rank; -1: not known
  later: number; // ns, from the begin of this call to that of the last one
  span: number; // ns, from the first one to the last one
}

/** By row and call. */
export class Collectives {
  private readonly byRow = new Map<number, Map<number, Collective>>();

  constructor(private readonly communicators: { name: string; ranks: number }[]) {}

  add(row: number, call: number, one: Collective): void {
    let calls = this.byRow.get(row);
    if (!calls) this.byRow.set(row, (calls = new Map<number, Collective>()));
    calls.set(call, one);
  }
  of(row: number, call: number): Collective | undefined {
    return this.byRow.get(row)?.get(call);
  }

  /** @param rank of the row */
  words(row: number, call: number, rank: number): string {
    const one = this.of(row, call);
    if (!one) return "";
    const { name, ranks } = this.communicators[one.communicator]!,
      which = `; operation ${one.number} of ${name}`;
    if (one.last < 0) return which;
    if (ranks < 2) return which;
    if (one.last === rank) return `${which}, of ${ranks} ranks the last one to come, ${duration(one.span)} after the first`;
    return `${which}; the last of ${ranks} ranks came ${duration(one.later)} later: rank ${one.last}`;
  }
}

/** @param rowOf rows by location */
export async function readCollectives(events: EventsHeader, rowOf: Int32Array): Promise<Collectives> {
  const out = new Collectives(events.communicators ?? []);
  if (!events.collectives) return out;
  const columns = await numbersByName(events.collectives, ["calls", "communicators", "numbers", "lasts", "later", "spans"]),
    calls = unzigzag(columns.calls),
    numbers = unzigzag(columns.numbers);
  let at = 0;
  (events.rows.collectives ?? []).forEach((n, l) => {
    for (let i = 0, call = 0, number = 0; i < n; ++i, ++at)
      out.add(rowOf[l]!, (call += calls[at]!), {
        communicator: columns.communicators[at]!,
        number: (number += numbers[at]!),
        last: columns.lasts[at]! - 1,
        later: columns.later[at]!,
        span: columns.spans[at]!,
      });
  });
  return out;
}
