// Keys, and their list.
import { $ } from "../dom";

export function connectKeys(): void {
  $("help").innerHTML = `<h2>Keys</h2><table>${[
    ["?", "this help"],
    ["/", "search call paths (Enter: next, Shift+Enter: previous, Escape: leave)"],
    ["1 … 7", "to the iterations, metrics, call paths, ranks, source, ranks over time, timeline"],
    ["u", "call paths top-down or bottom-up"],
    ["h", "hot path (in the call paths)"],
    ["*", "open everything below"],
    ["← → ↑ ↓", "in a tree: close, open, up, down; in the pictures: move"],
    ["↑ ↓", "in ranks over time: deeper or less deep into the call paths"],
    ["← → ↑ ↓ Enter", "in the strips of groups: read part by part, the other strips, select"],
    ["w s a d", "in the timeline: zoom in, out, move"],
    ["Shift ← → ↑ ↓ Enter", "in the timeline: read call by call, the other rows, select"],
    ["c v", "in the timeline: type curves; hide or show them"],
    ["f Shift f", "in the timeline: the next or previous cause"],
    ["m n Shift n", "in the timeline: mark a time; read the next or previous mark"],
    ["Shift ← →", "move the selection by one iteration"],
    ["+ − 0", "zoom in, out, show all"],
    ["b", "keep A as B"],
    ["x", "clear the comparison"],
    ["Escape", "whole run"],
    ["t", "light or dark"],
  ]
    .map(([k, v]) => `<tr><td><kbd>${k}</kbd></td><td>${v}</td></tr>`)
    .join("")}</table><p class="dim">Click or Escape closes.</p>`;
  const help = $<HTMLDialogElement>("help");
  help.onclick = () => help.close();
  $("help-button").onclick = () => help.showModal();
  document.addEventListener("keydown", (e) => {
    if (help.open || e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches("input, select")) return;
    const focus = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.focus();
    const actions: Record<string, () => void> = {
      "?": () => help.showModal(),
      "/": () => {
        const search = $<HTMLInputElement>("search");
        search.focus();
        search.select();
      },
      "1": focus("#timeline canvas"),
      "2": focus("#metric-tree .tree-scroll"),
      "3": focus("#trees .tree:not([hidden]):is(#path-tree, #function-tree) .tree-scroll"),
      "4": focus("#system-tree .tree-scroll"),
      "5": focus("#source"),
      "6": focus("#strip canvas"),
      "7": focus("#events canvas"),
      b: () => $("b-keep").click(),
      x: () => $("b-clear").click(),
      u: () => {
        const direction = $<HTMLSelectElement>("direction");
        direction.selectedIndex = 1 - direction.selectedIndex;
        direction.dispatchEvent(new Event("change"));
      },
      t: () => $("theme").click(),
      Escape: () => {
        if (!(e.target as HTMLElement).closest("#icicle")) $("a-clear").click();
      },
    };
    const action = actions[e.key];
    if (action) {
      e.preventDefault();
      action();
    }
  });
}
