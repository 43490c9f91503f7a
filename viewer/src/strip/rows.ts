// The rows of the strip: clusters of ranks, or ranks.
import type { Data } from "../data";
import type { StripRows } from "../state";

export interface Row {
  ranks: number[];
  name: string;
  data: number; // row of the data, -1 if there is none
  y: number; // shares of the height
  h: number;
}

function names(ranks: number[]): string {
  const spans: string[] = [];
  for (let i = 0; i < ranks.length; ++i) {
    const first = ranks[i]!;
    while (ranks[i + 1] === ranks[i]! + 1) ++i;
    spans.push(ranks[i] === first ? String(first) : `${first}–${ranks[i]}`);
  }
  return spans.slice(0, 3).join(", ") + (spans.length > 3 ? ", …" : "");
}

/** The height of a cluster grows with the logarithm of its size, as in Wei and Mellor-Crummey (ICS 2018). */
export function rowsOf(data: Data, kind: StripRows): Row[] {
  const { strip, job } = data.header;
  const weights: number[] = [],
    rows: Row[] = [];
  const add = (ranks: number[], at: number, weight: number): void => {
    rows.push({ ranks, name: names(ranks), data: at, y: 0, h: 0 });
    weights.push(weight);
  };
  if (!strip) for (let rank = 0; rank < job.ranks; ++rank) add([rank], -1, 1);
  else if (kind === "clusters") strip.clusters.forEach((ranks, i) => add(ranks, strip.ranks.length + i, Math.log2(ranks.length + 1)));
  else {
    const position = new Map(strip.ranks.map((rank, i) => [rank, i]));
    for (const rank of kind === "ordered" ? strip.clusters.flat() : strip.ranks) add([rank], position.get(rank)!, 1);
  }
  const all = weights.reduce((x, y) => x + y, 0);
  let y = 0;
  rows.forEach((row, i) => {
    row.y = y;
    row.h = weights[i]! / all;
    y += row.h;
  });
  return rows;
}
