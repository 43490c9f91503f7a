// Messages between the rows of the timeline, in the order of time.
import { numbersByName, unzigzag } from "../columns";
import type { EventsHeader } from "../header";
import type { EventRow } from "./rows";

/** Both ends of a message, or the one that is known; rows and calls are -1 where they are not. */
export interface Message {
  sender: number;
  sending: number;
  receiver: number;
  receiving: number;
  from: number; // ranks; -1: unknown
  to: number;
  bytes: number;
  tag: number;
}

/** The messages of each call: where the calls of a row begin, where those of a call begin, and all one after the other. */
interface MessageIndex {
  base: Float64Array;
  first: Uint32Array;
  list: Uint32Array;
}

export class Messages {
  readonly sender: Int32Array;
  readonly sending: Int32Array;
  readonly receiver: Int32Array;
  readonly receiving: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly tag: Int32Array;
  readonly bytes: Float64Array;
  readonly sent: Float64Array; // begin of the call that sends, on the axis; NaN: not known
  readonly received: Float64Array; // end of the call that receives
  readonly isCountedElsewhere: Uint8Array; // 1: its sender is not known, but may be that of another one here, whose receiver is not known
  /** ns that no message exceeds from begin to end. */
  slowest = 0;
  private byCall?: MessageIndex;

  constructor(
    readonly count: number,
    private readonly rows: EventRow[],
  ) {
    [this.sender, this.sending, this.receiver, this.receiving, this.from, this.to, this.tag] = Array.from({ length: 7 }, () =>
      new Int32Array(count).fill(-1),
    ) as [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];
    this.bytes = new Float64Array(count);
    this.sent = new Float64Array(count).fill(NaN);
    this.received = new Float64Array(count).fill(NaN);
    this.isCountedElsewhere = new Uint8Array(count);
  }

  at(m: number): Message {
    const { sender, sending, receiver, receiving, from, to, bytes, tag } = this;
    return {
      sender: sender[m]!,
      sending: sending[m]!,
      receiver: receiver[m]!,
      receiving: receiving[m]!,
      from: from[m]!,
      to: to[m]!,
      bytes: bytes[m]!,
      tag: tag[m]!,
    };
  }

  /** The messages that a call of a row sends or receives. */
  of(row: number, call: number): Uint32Array {
    const { base, first, list } = (this.byCall ??= this.index()),
      at = base[row]! + call;
    return list.subarray(first[at], first[at + 1]);
  }

  /** One pass over the messages for all rows: calls are numbered over all of them. */
  private index(): MessageIndex {
    const base = new Float64Array(this.rows.length + 1);
    this.rows.forEach(({ calls }, r) => (base[r + 1] = base[r]! + calls.begin.length));
    const first = new Uint32Array(base.at(-1)! + 1),
      ends = [
        [this.sender, this.sending],
        [this.receiver, this.receiving],
      ] as const;
    for (const [rows, calls] of ends) for (let m = 0; m < this.count; ++m) if (rows[m]! >= 0) ++first[base[rows[m]!]! + calls[m]! + 1]!;
    for (let c = 1; c < first.length; ++c) first[c]! += first[c - 1]!;
    const next = first.slice(),
      list = new Uint32Array(first.at(-1)!);
    for (const [rows, calls] of ends) for (let m = 0; m < this.count; ++m) if (rows[m]! >= 0) list[next[base[rows[m]!]! + calls[m]!]!++] = m;
    return { base, first, list };
  }
}

/** @param rowOf rows by location */
export async function readMessages(events: EventsHeader, rows: EventRow[], rowOf: Int32Array): Promise<Messages> {
  const columns = await numbersByName(events.messages, ["calls", "kinds", "partners", "tags", "bytes", "rows", "others"]),
    calls = unzigzag(columns.calls),
    tags = unzigzag(columns.tags),
    others = unzigzag(columns.others),
    count = calls.length;
  // Where each one is known, by its number in the columns.
  const ownRow = new Int32Array(count),
    ownCall = new Int32Array(count),
    otherRow = new Int32Array(count),
    otherCall = new Int32Array(count),
    time = new Float64Array(count);
  let at = 0;
  events.rows.messages.forEach((n, l) => {
    const row = rowOf[l]!;
    for (let call = 0, other = 0, k = 0; k < n; ++k, ++at) {
      ownRow[at] = row;
      ownCall[at] = call += calls[at]!;
      other += others[at]!;
      otherRow[at] = columns.rows[at]! > 0 ? rowOf[columns.rows[at]! - 1]! : -1;
      otherCall[at] = otherRow[at]! < 0 ? -1 : other;
      const one = rows[row]!;
      time[at] = one.place(columns.kinds[at] === 0 ? one.calls.begin[call]! : one.calls.end[call]!);
    }
  });
  const order = Uint32Array.from(time.keys()).sort((a, b) => time[a]! - time[b]!),
    messages = new Messages(count, rows);
  order.forEach((c, m) => {
    const isSent = columns.kinds[c] === 0,
      partner = columns.partners[c]! - 1,
      rank = rows[ownRow[c]!]!.rank;
    messages.from[m] = isSent ? rank : partner;
    messages.to[m] = isSent ? partner : rank;
    messages.tag[m] = tags[c]!;
    messages.bytes[m] = columns.bytes[c]!;
    messages.isCountedElsewhere[m] = columns.kinds[c] === 2 ? 1 : 0;
    if (isSent) {
      messages.sender[m] = ownRow[c]!;
      messages.sending[m] = ownCall[c]!;
      messages.sent[m] = time[c]!;
    }
    const [receiver, receiving] = isSent ? [otherRow[c]!, otherCall[c]!] : [ownRow[c]!, ownCall[c]!];
    if (receiver < 0) return;
    messages.receiver[m] = receiver;
    messages.receiving[m] = receiving;
    messages.received[m] = rows[receiver]!.place(rows[receiver]!.calls.end[receiving]!);
    if (messages.received[m]! - messages.sent[m]! > messages.slowest) messages.slowest = messages.received[m]! - messages.sent[m]!;
  });
  return messages;
}
