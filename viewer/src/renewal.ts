// Renews a page from the data of a later state of the job. What the user has chosen, opened and scrolled to stays where it is.
import { $ } from "./dom";
import { makePage, type Page } from "./page";
import { Renumbering } from "./renumbering";
import type { Tree } from "./tree";

/** As it is before any pane is made. */
const main = document.querySelector("main")!.cloneNode(true);

/** @param data elements with them, as HTML */
export async function renewed(before: Page, data: string): Promise<Page> {
  const kept = keep(before);
  before.end();
  document.querySelectorAll('#header, script[id^="column-"]').forEach((element) => element.remove());
  const sent = document.createElement("template");
  sent.innerHTML = data;
  document.body.append(sent.content);
  document.querySelector("main")!.replaceWith(main.cloneNode(true));
  const page = await makePage(before);
  await restore(page, before, kept);
  return page;
}

type Kept = ReturnType<typeof keep>;

function keep(page: Page) {
  const focused = document.activeElement,
    owner = focused?.closest<HTMLElement>("main [id]"),
    part = focused?.classList.contains("tree-scroll") ? " .tree-scroll" : " " + focused?.tagName.toLowerCase(),
    sections = [...document.querySelectorAll<HTMLElement>("main > [id]:not(#selection)")],
    seen = sections.find((section) => section.getBoundingClientRect().bottom > 0),
    field = focused instanceof HTMLInputElement ? focused : null;
  const groups = page.groups.kept();
  return {
    trees: treesOf(page).map((tree) => ({ open: [...tree.opened()], anchor: tree.anchor() })),
    selectedNode: page.ranks.tree.selected,
    search: $<HTMLInputElement>("search").value,
    scrolled: ["source", "regions", "merged", "machine"].map((id) => [id, $(id).scrollTop] as const),
    details: ["details", "merged-section"].map((id) => [id, $<HTMLDetailsElement>(id).open] as const),
    groups,
    focus: groups.focus ? "" : owner ? "#" + owner.id + (owner === focused ? "" : part) : "",
    caret: field ? [field.selectionStart, field.selectionEnd] : null,
    section: seen ? { id: seen.id, top: seen.getBoundingClientRect().top } : null,
  };
}

const treesOf = ({ metrics, callPaths, ranks }: Page): Tree[] => [metrics.tree, callPaths.tree, ranks.tree, ...(callPaths.isUp() ? [callPaths.functions] : [])];

async function restore(page: Page, before: Page, kept: Kept): Promise<void> {
  const numbers = new Renumbering(before.data, page.data),
    kinds = [(n: number) => numbers.metric(n), (n: number) => numbers.paths[n]!, (n: number) => numbers.system[n]!, (n: number) => numbers.rows[n]!],
    trees = treesOf(page);
  trees.forEach((tree, i) => tree.setOpen(kept.trees[i]!.open.map(kinds[i]!).filter((n) => n >= 0)));
  const node = kept.selectedNode < 0 ? -1 : numbers.system[kept.selectedNode]!;
  if (node >= 0) page.ranks.tree.select(node, true);
  if (node > 0) page.ranks.offer(node);
  if (kept.search) {
    $<HTMLInputElement>("search").value = kept.search;
    page.callPaths.search();
  }
  page.icicle.setRoot(numbers.nearestPath(before.icicle.root));
  for (const [id, open] of kept.details) $<HTMLDetailsElement>(id).open = open;
  page.groups.restore(kept.groups);
  await page.source.show();
  page.pictures.forEach((picture) => picture.paint());
  page.groups.paint();
  trees.forEach((tree, i) => {
    const { anchor } = kept.trees[i]!,
      at = anchor ? kinds[i]!(anchor.node) : -1;
    if (anchor && at >= 0) tree.putAt({ ...anchor, node: at });
  });
  for (const [id, top] of kept.scrolled) $(id).scrollTop = top;
  const section = kept.section && $(kept.section.id);
  if (section && !section.hidden) window.scrollBy({ top: section.getBoundingClientRect().top - kept.section!.top, behavior: "instant" });
  if (!kept.focus) return;
  const focused = document.querySelector<HTMLElement>(kept.focus);
  focused?.focus({ preventScroll: true });
  if (kept.caret && focused instanceof HTMLInputElement) focused.setSelectionRange(kept.caret[0]!, kept.caret[1]!);
}
