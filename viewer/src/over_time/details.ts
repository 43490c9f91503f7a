// What a segment consists of, as HTML: the sentence and lines of `libprofile compare --over-time`, and its functions.
import { escaped, plural, quantity, signed } from "../format";
import { dressed, sentence } from "../words";
import type { FunctionChange, Segment } from "./header";
import { segmentWord } from "./marks";

/** Of one that is no change, too. */
export function headHtml(one: Segment, i: number, before: string): string {
  const plain = `iterations ${one.iterations}: ${quantity(one.after, "ns")} each, ${before} ${quantity(one.before, "ns")} (${signed(one.total, "ns")} in all)`;
  return (
    `<b class="number">${i + 1}</b> <span class="word">${escaped(segmentWord(one))}</span> ` +
    `<span>${one.change ? dressed(sentence(one.head)) : escaped(sentence(plain))}</span>`
  );
}

function functionRow(one: FunctionChange): string {
  const where = [one.below ? `called by ${one.below}` : "", one.caller ? `in ${one.caller}` : "", one.place].filter(Boolean).join(", "),
    cells = [
      signed(one.difference, "ns"),
      one.error === null ? "± ?" : one.error > 0 ? `± ${quantity(one.error, "ns")}` : "",
      one.kind,
      one.change,
      one.function,
      where,
      one.ranks,
    ];
  return `<tr>${cells.map((text) => `<td>${escaped(text)}</td>`).join("")}</tr>`;
}

/** Of a change its lines and functions, else why it is none. */
export function detailsHtml(one: Segment): string {
  if (!one.change) {
    const error = one.error === null ? "not known" : quantity(one.error, "ns");
    return `<p class="dim">${escaped(`Mean difference of ${plural(one.pairs, "pair")}: ${signed(one.after - one.before, "ns") || "0"} each, ± ${error}: ${one.chance}.`)}</p>`;
  }
  const lines = one.lines.map(({ amount, use, text }) => `<tr><td>${escaped(amount)}</td><td>${escaped(use)}</td><td>${escaped(text)}</td></tr>`).join("");
  return (
    (lines ? `<table class="differences">${lines}</table>` : `<p class="dim">No function differs beyond chance.</p>`) +
    `<div class="wide"><table class="over-time-functions"><thead><tr><th title="mean over all ranks">difference</th><th>±</th><th>kind</th><th title="what the difference consists of, as far as it is counted">change</th><th>function</th><th>where</th><th title="that have nearly all of the difference">ranks</th></tr></thead>` +
    `<tbody>${one.functions.map(functionRow).join("")}</tbody></table></div>` +
    (one.left_out ? `<p class="dim">and ${plural(one.left_out, "more function")}; libprofile compare --over-time --format json has all</p>` : "")
  );
}
