// The HTML of the rows of a tree.
import { escaped, percent, times } from "../format";
import type { TreeContent, TreeValues } from "./content";

export interface Row {
  node: number;
  depth: number;
  top: number; // pixels
  selected: boolean;
  match: boolean;
  open: boolean;
  isParent: boolean; // of nodes that are shown
}

export function headHtml(c: TreeContent): string {
  if (c.columns) return `<span class="c-name"></span>` + c.columns.head;
  return (
    `<span class="c-name"></span>` +
    (c.other
      ? `<span class="c-value a">A</span><span class="c-value b">B</span><span class="c-share">B − A</span>`
      : (c.isBottomUp
          ? `<span class="c-value" title="of the function itself; a caller has its part of it">own</span><span class="c-own" title="with what the function calls; recursive calls count once">incl.</span>`
          : `<span class="c-value" title="including everything below">total</span><span class="c-own" title="excluding everything below">own</span>`) +
        (c.error ? `<span class="c-error" title="${errorTitle(c)}">±</span>` : "") +
        (c.shares ? `<span class="c-share" title="${c.isBottomUp ? "of the own value" : "closed rows: total; open rows: own"}">share</span>` : "") +
        (c.imbalance ? `<span class="c-imb" title="largest rank over the mean rank, minus 1">imbalance</span>` : ""))
  );
}

const errorTitle = (c: TreeContent): string =>
  `95 % interval of ${c.isBottomUp ? "the own value" : "the total; of open rows: own"}, from the number of samples` +
  (c.hasOpenOrder ? "; ↕: the order of this row and the next may be chance" : "");

export function rowHtml(c: TreeContent, { node, depth, top, selected, match, open, isParent }: Row): string {
  const isOpen = open && isParent && !c.isBottomUp,
    side = c.side?.(node) ?? "",
    hint = escaped(c.hint?.(node) ?? c.name(node)),
    expanded = isParent ? `aria-expanded="${open}"` : "",
    // Two selections are compared by inclusive values.
    valueOf = (of: TreeValues): number => (!c.other && isOpen ? of.exclusive(node) : of.inclusive(node)),
    value = valueOf(c);
  return (
    `<div class="row${selected ? " selected" : ""}${match ? " match" : ""}" role="treeitem" aria-level="${depth + 1}" ${expanded} aria-selected="${selected}" data-node="${node}" data-value="${value}" style="top:${top}px" title="${hint}">` +
    `<span class="c-name" style="padding-left:${depth * 10}px"><span class="twist">${isParent ? (open ? "▾" : "▸") : ""}</span>${escaped(c.name(node))}${side ? ` <span class="side">${escaped(side)}</span>` : ""}</span>` +
    (c.columns ? c.columns.cells(node) : c.other ? comparedCells(c, node, value, c.other.inclusive(node)) : valueCells(c, node, value, isOpen)) +
    "</div>"
  );
}

function comparedCells(c: TreeContent, node: number, a: number, b: number): string {
  const [unknownA, unknownB] = [false, true].map((ofOther) => c.unknown?.(node, ofOther) ?? false),
    more = b - a;
  const show = (value: number, unknown: boolean): string => `<span class="c-value">${unknown ? "not known" : c.show(value, node)}</span>`;
  const values = show(a, unknownA!) + show(b, unknownB!);
  if (unknownA || unknownB) return values + `<span class="c-share">not known</span>`;
  const sign = more > 0 ? "+" : "−",
    size = Math.abs(more);
  const text = more === 0 ? "=" : a === 0 ? sign + c.show(size, node) : more / a >= 2 ? times(b / a) : sign + percent(size / a);
  const error = c.errorOfDifference?.(node) ?? 0;
  if (size !== 0 && size <= error && error !== Infinity)
    return values + `<span class="c-share" title="B − A = ${sign}${c.show(size, node)} ± ${c.show(error, node)}: may be chance">(${text})</span>`;
  return values + `<span class="c-share ${more > 0 ? "more" : more < 0 ? "less" : ""}">${text}</span>`;
}

function valueCells(c: TreeContent, node: number, value: number, isOpen: boolean): string {
  const unknown = c.unknown?.(node, false) ?? false,
    whole = c.whole(node),
    share = whole === 0 || unknown ? 0 : value / whole,
    [inclusive, own] = [c.inclusive(node), c.exclusive(node)];
  const width = Math.max(0, Math.min(100, (share || 0) * 100)).toFixed(1);
  return (
    `<span class="c-value${isOpen ? " other" : ""}"><span class="bar" style="width:${width}%"></span><span>${unknown ? "not known" : c.show(inclusive, node)}</span></span>` +
    `<span class="c-own${isOpen ? "" : " other"}">${unknown || own === 0 ? "" : c.show(own, node)}</span>` +
    (c.error ? errorCell(c, node, isOpen, unknown) : "") +
    (c.shares ? `<span class="c-share">${whole === 0 || unknown || (isOpen && value === 0) ? "" : percent(share)}</span>` : "") +
    (c.imbalance ? `<span class="c-imb">${unknown || inclusive === 0 ? "" : percent(c.imbalance(node))}</span>` : "")
  );
}

function errorCell(c: TreeContent, node: number, isOpen: boolean, unknown: boolean): string {
  const error = unknown ? 0 : c.error!(node, isOpen),
    isKnown = error !== 0 && error !== Infinity;
  return `<span class="c-error">${isKnown ? "± " + c.show(error, node) : ""}${isKnown && c.hasOpenOrder?.(node) ? " ↕" : ""}</span>`;
}
