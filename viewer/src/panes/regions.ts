// The table of regions. A click shows the iterations of a region.
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped, grouped, plural, quantity, shortName } from "../format";
import type { Store } from "../state";
import type { IterationsPane } from "./iterations";

export function connectRegions(data: Data, store: Store, iterations: IterationsPane): void {
  const { header } = data;
  const { rows: regions, counters, functions_left_out } = header.regions;
  $("regions-section").hidden = regions.length === 0;
  $("regions").innerHTML =
    `<table><thead><tr>${["region", "visits", "time", "own time", "per visit", ...counters].map((x) => `<th>${escaped(x)}</th>`).join("")}</tr></thead><tbody>${regions
      .map(
        (r, i) =>
          `<tr><td><span class="dim">${escaped(r.kind)}</span> ${r.map ? `<button data-region="${i}" title="Its time in every iteration">${escaped(r.name)}</button>` : escaped(shortName(r.name))} <span class="side">${escaped(r.place)}</span></td>` +
          [
            grouped(r.visits),
            quantity(r.time, "ns"),
            quantity(r.own, "ns"),
            quantity(r.visits ? r.time / r.visits : 0, "ns"),
            ...counters.map((_, c) => (c < r.counted.length ? grouped(r.counted[c]!) : "")),
          ]
            .map((x) => `<td>${x}</td>`)
            .join("") +
          "</tr>",
      )
      .join("")}</tbody></table>` + (functions_left_out ? `<p class="dim">and ${plural(functions_left_out, "more function")}, with less time</p>` : "");
  const enableButtons = (): void => {
    const phase = header.phases[store.state.phase];
    $("regions")
      .querySelectorAll<HTMLButtonElement>("button")
      .forEach((button) => {
        const { map } = regions[Number(button.dataset.region)]!;
        button.disabled = !phase?.maps?.some((m) => m.name === map) && !(header.served && phase?.left_out?.some((m) => m.name === map));
      });
  };
  $("regions").addEventListener("click", async (e) => {
    const button = (e.target as HTMLElement).closest<HTMLElement>("[data-region]"),
      name = button ? regions[Number(button.dataset.region)]!.map : "";
    if (!name || !(await iterations.obtain(name))) return;
    store.set({ map: name });
    $("iterations").scrollIntoView({ block: "nearest" });
  });
  enableButtons();
  store.on(["phase"], enableButtons);
}
