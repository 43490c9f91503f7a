// Matrices of a selected part of the timeline: who sends to whom, and from which NUMA node to which tasks access memory.
import { themeColor } from "../color";
import { grouped, percent, plural, quantity } from "../format";
import type { NodeMatrix } from "./places";
import type { Matrix } from "./shares";
import { messagesWords } from "./words";

interface Cell {
  value: number;
  text: string; // empty: an empty cell
  title: string;
}

/** @param names of rows and columns */
function matrixHtml(heading: string, names: string[], cellOf: (row: number, column: number) => Cell): string {
  const cells = names.map((_, i) => names.map((__, k) => cellOf(i, k))),
    most = Math.max(1, ...cells.flat().map(({ value }) => value));
  const html = ({ value, text, title }: Cell): string => {
    if (text === "") return "<td></td>";
    const style = `background:color-mix(in srgb, ${themeColor("a")} ${Math.round(8 + (40 * value) / most)}%, transparent)`;
    return `<td title="${title}" style="${style}">${text}</td>`;
  };
  return (
    `<div><p>${heading}</p><table class="matrix"><tr><th></th>${names.map((name) => `<th>${name}</th>`).join("")}</tr>` +
    `${cells.map((row, i) => `<tr><th>${names[i]}</th>${row.map(html).join("")}</tr>`).join("")}</table></div>`
  );
}

export function rankMatrixHtml({ ranks, bytes, counts, leftOut }: Matrix): string {
  const n = ranks.length,
    names = ranks.map((rank) => (rank < 0 ? "?" : String(rank))),
    sum = (list: Float64Array): number => list.reduce((a, b) => a + b, 0);
  const heading =
    `${messagesWords(sum(counts), sum(bytes))}, from rank (rows) to rank (columns)` +
    `${leftOut > 0 ? `; ${plural(leftOut, "rank")} with fewer bytes left out` : ""}`;
  return matrixHtml(heading, names, (i, k) => {
    const [count, value] = [counts[i * n + k]!, bytes[i * n + k]!];
    return { value, text: count === 0 ? "" : quantity(value, "bytes"), title: `rank ${names[i]} to ${names[k]}: ${messagesWords(count, value)}` };
  });
}

/** Reads and writes, of the nodes that occur. */
export function nodeMatrixHtml({ nodes, reads, writes, local, remote, unknown }: NodeMatrix): string {
  const all = Array.from({ length: nodes }, (_, node) => node),
    used = all.filter((node) => all.some((other) => [reads, writes].some((list) => list[node * nodes + other]! + list[other * nodes + node]! > 0))),
    known = local + remote;
  const table = (what: string, list: Float64Array): string =>
    matrixHtml(`<b>${what}</b>: NUMA node of the task (rows), of the memory (columns)`, used.map(String), (i, k) => {
      const value = list[used[i]! * nodes + used[k]!]!;
      return {
        value,
        text: value === 0 ? "" : grouped(value),
        title: `tasks on node ${used[i]}, memory on node ${used[k]}: ${grouped(value)} ${what.toLowerCase()}`,
      };
    });
  const share =
      known > 0 ? `<b>${percent(remote / known)}</b> of ${grouped(known)} accesses of tasks go to another NUMA node` : "No node of an access is known",
    rest = unknown > 0 ? `; of ${grouped(unknown)} more a node is not known` : "";
  return `<div class="nodes"><p title="An access is one depend clause of a task">${share}${rest}</p></div>${known > 0 ? table("Reads", reads) + table("Writes", writes) : ""}`;
}
