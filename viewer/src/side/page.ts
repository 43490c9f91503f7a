// The page of several runs.
import { $ } from "../dom";
import { escaped } from "../format";
import { OverTimePane } from "../over_time/pane";
import { onSystemTheme, showTheme, themeAfter } from "../panes/job";
import { save } from "../surface";
import { Tree } from "../tree";
import { contentOf, csvOf, type Order } from "./cells";
import { treesOf, type SideHeader, type SideTree } from "./runs";

const mostCompared = 3; // groups whose differences are shown at once

function headHtml({ head, lines, remarks }: SideHeader["heads"][number]): string {
  return (
    `<div class="finding"><h2>${escaped(head)}</h2>` +
    (lines.length
      ? `<table class="differences">${lines.map((l) => `<tr><td>${escaped(l.amount)}</td><td>${escaped(l.use)}</td><td>${escaped(l.text)}</td></tr>`).join("")}</table>`
      : "") +
    remarks.map((text) => `<p class="dim">${escaped(text)}</p>`).join("") +
    "</div>"
  );
}

/** A pane that shows one of some trees. */
class SidePane {
  readonly tree: Tree;
  shown: string;
  constructor(
    private header: SideHeader,
    private trees: Record<string, SideTree>,
    private host: string, // the id of the tree's element; "HOST-note" is that of what it says
    label: string,
    first: string,
  ) {
    this.tree = new Tree($(host), label);
    this.shown = first;
  }
  show(groups: number[], order: Order | "name", sorted: number): void {
    const tree = this.trees[this.shown]!;
    this.tree.sorting = order === "name" ? "name" : "value";
    this.tree.setContent(contentOf(this.header, tree, groups, order === "name" ? "value" : order, sorted));
    $(this.host + "-note").textContent = tree.leftOut;
    $(this.host).style.minWidth = `${260 + 86 * this.header.groups.length + 236 * groups.length}px`;
  }
  csv(): void {
    save(`comparison-${this.shown}.csv`, csvOf(this.header, this.trees[this.shown]!), "text/csv");
  }
}

export async function showSideBySide(header: SideHeader): Promise<void> {
  const trees = await treesOf(header),
    names = header.groups.map(({ name }) => name),
    later = names.map((_, g) => g).slice(1);
  document.body.classList.add("side-by-side");
  $("side").hidden = false;
  document.title = "libprofile: " + names.join(", ");
  $("title").textContent = `${names.slice(1).join(", ")} compared with ${names[0]}`;
  $("job").textContent = `${header.metric}, mean over ranks${header.groups.some(({ runs }) => runs.length > 1) ? " and repetitions" : ""}`;
  $("incomplete").hidden = header.remarks.length === 0;
  $("incomplete").innerHTML = `<b>Note:</b><ul>${header.remarks.map((text) => `<li>${escaped(text)}</li>`).join("")}</ul>`;
  $("side-heads").innerHTML = header.heads.map(headHtml).join("");
  $("side-runs").innerHTML = header.groups.map(({ name, runs }) => `<tr><td>${escaped(name)}</td><td>${runs.map(escaped).join("<br>")}</td></tr>`).join("");

  const overTime = new OverTimePane(header.over_time, names);
  let theme: Parameters<typeof showTheme>[0] = "auto";
  const applyTheme = (): void => {
    showTheme(theme);
    overTime.picture?.picture.redraw();
  };
  applyTheme();
  onSystemTheme(applyTheme);
  $("theme").onclick = () => {
    theme = themeAfter(theme);
    applyTheme();
  };
  await overTime.show();
  const paths = new SidePane(header, trees, "side-paths", "Call paths", "paths"),
    places = new SidePane(header, trees, "side-places", "Kinds of time, or modules", "kinds"),
    ranks = new SidePane(header, trees, "side-ranks", "Ranks", "ranks"),
    panes = [paths, places, ranks],
    group = $<HTMLSelectElement>("side-group"),
    order = $<HTMLSelectElement>("side-order"),
    direction = $<HTMLSelectElement>("side-direction"),
    placesOf = $<HTMLSelectElement>("side-places-of"),
    search = $<HTMLInputElement>("side-search");
  group.innerHTML = later.map((g) => `<option value="${g}">${escaped(names[g]!)}</option>`).join("");
  $("side-group-label").hidden = later.length < 2;
  const show = (): void => {
    const sorted = Number(group.value);
    for (const pane of panes) pane.show(later.length <= mostCompared ? later : [sorted], order.value as Order | "name", sorted);
  };
  const find = (step: number): void => {
    if (step === 0) paths.tree.search(search.value);
    else paths.tree.next(step);
    $("side-found").textContent = search.value.trim() ? paths.tree.found() : "";
  };
  /** Opens the row with most of its parent's difference repeatedly. */
  const showHot = (pane: SidePane): void => {
    const { parent, values } = trees[pane.shown]!,
      more = (row: number): number => Math.abs(values[Number(group.value)]![row]! - values[0]![row]!),
      open: number[] = [],
      children = new Map<number, number[]>();
    parent.forEach((p, row) => (children.get(p) ?? children.set(p, []).get(p)!).push(row));
    for (let row = -1; ;) {
      const next = (children.get(row) ?? []).reduce((best, child) => (best < 0 || more(child) > more(best) ? child : best), -1);
      if (next < 0 || (row >= 0 && more(next) < 0.5 * more(row))) break;
      open.push((row = next));
    }
    pane.tree.setOpen(open);
  };
  group.onchange = order.onchange = show;
  const turn = (pane: SidePane, name: string): void => {
    pane.shown = name;
    pane.tree.select(-1, true);
    pane.tree.setOpen([]);
    show();
    showHot(pane);
  };
  direction.onchange = () => {
    paths.tree.search(""); // of what was searched in the other tree
    turn(paths, direction.value);
    find(0);
  };
  placesOf.onchange = () => turn(places, placesOf.value);
  search.oninput = () => find(0);
  search.onkeydown = (e) => {
    if (e.key === "Enter") find(e.shiftKey ? -1 : 1);
  };
  $("side-next").onclick = () => find(1);
  $("side-hot").onclick = () => showHot(paths);
  $("side-paths-csv").onclick = () => paths.csv();
  $("side-places-csv").onclick = () => places.csv();
  $("side-ranks-csv").onclick = () => ranks.csv();
  $("side-ranks-pane").hidden = trees.ranks!.parent.length === 0;
  show();
  for (const pane of [paths, places]) showHot(pane);
  Object.assign(window, { libprofile: { header, trees, panes: { paths, places, ranks }, overTime } });
}
