// Columns of numbers, decoded when they are first used. They are in the page, or the server sends them.
import type { CellColumns } from "./header";

/** Profiles one after the other. Profile p has the entries from first[p] up to first[p + 1]. */
export interface Cells {
  first: Uint32Array;
  keys: Uint32Array;
  values: Float64Array;
}

interface Sent {
  first: number;
  columns: string[];
}

function unpacked(base64: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Columns that the server sent, until they are read. */
const received = new Map<number, string>();
let snapshot = 0, // what the server is asked about
  pending = 0;

/** From now on columns are those of this state of the job. */
export function beginSnapshot(number: number): void {
  snapshot = number;
  received.clear();
}

export const isAsking = (): boolean => pending > 0;

export async function bytesOf(column: number): Promise<Uint8Array> {
  const packed = unpacked(received.get(column) ?? document.getElementById("column-" + column)!.textContent!);
  received.delete(column);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** LEB128, exact up to 2^53. */
export async function numbersOf(column: number): Promise<Float64Array> {
  return numbersIn(await bytesOf(column));
}

export function numbersIn(bytes: Uint8Array): Float64Array {
  let n = 0;
  for (let i = 0; i < bytes.length; ++i) n += bytes[i]! < 128 ? 1 : 0;
  const out = new Float64Array(n);
  for (let i = 0, at = 0; at < n; ++at) {
    let byte = bytes[i++]!;
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[i++]!;
      value += (byte & 127) * factor;
    }
    out[at] = value;
  }
  return out;
}

/** Decodes in place: 0, 1, 2, 3, ... are 0, -1, 1, -2, ... */
export function unzigzag(coded: Float64Array): Float64Array {
  for (let i = 0; i < coded.length; ++i) coded[i] = coded[i]! % 2 === 0 ? coded[i]! / 2 : -(coded[i]! + 1) / 2;
  return coded;
}

/** A column of zigzag-coded differences. */
export async function seriesOf(column: number): Promise<Float64Array> {
  const out = unzigzag(await numbersOf(column));
  for (let i = 1; i < out.length; ++i) out[i]! += out[i - 1]!;
  return out;
}

/** The numbers of several columns, under the names that the header has for them. */
export async function numbersByName<Name extends string>(
  header: { readonly [key in NoInfer<Name>]: number },
  names: Name[],
): Promise<Record<Name, Float64Array>> {
  const entries = names.map(async (name) => [name, await numbersOf(header[name])] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<Name, Float64Array>;
}

export async function cellsOf(header: CellColumns): Promise<Cells> {
  const { counts, keys, mantissas, exponents } = await numbersByName(header, ["counts", "keys", "mantissas", "exponents"]);
  for (let i = 0; i < keys.length; ++i) if (exponents[i] !== 0) mantissas[i]! *= 2 ** exponents[i]!;
  return { ...keysOf(counts, keys), values: mantissas };
}

/** Decodes keys from their differences. Profile p has `counts[p]` keys. */
export function keysOf(counts: Float64Array, differences: Float64Array): { first: Uint32Array; keys: Uint32Array } {
  const first = new Uint32Array(counts.length + 1),
    keys = new Uint32Array(differences.length);
  for (let p = 0, at = 0; p < counts.length; first[++p] = at) for (let k = counts[p]!, key = 0; k > 0; --k, ++at) keys[at] = key += differences[at]!;
  return { first, keys };
}

/** Asks the server that the page came from. */
export async function ask<T>(name: string, parameters: Record<string, string | number>): Promise<T & Sent> {
  const query = new URLSearchParams(Object.entries({ ...parameters, ...(snapshot ? { snapshot } : {}) }).map(([key, value]) => [key, String(value)])),
    mine = snapshot;
  let response: Response;
  ++pending;
  try {
    response = await fetch(`${name}?${query}`);
  } catch {
    throw new Error("libprofile view --serve has ended; start it again");
  } finally {
    --pending;
  }
  const sent = (await response.json()) as T & Sent & { error?: string };
  if (mine !== snapshot) throw new Error("the page has been renewed meanwhile");
  if (!response.ok) throw new Error(sent.error ?? `libprofile view answered ${response.status}`);
  sent.columns.forEach((text, i) => received.set(sent.first + i, text));
  return sent;
}
