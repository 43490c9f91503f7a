// The hottest runs of iterations: which ranks take longer than the median rank, and when. A click selects a rank and its iterations.
import type { Data, Spread } from "../data";
import { $ } from "../dom";
import { escaped, grouped, percent, plural, quantity, shortName, times, within } from "../format";
import { hotFunction } from "../hot_function";
import type { MapHeader } from "../header";
import { allowance, leastShare, type HotRun } from "../hottest";
import { selectionCode, type Selection } from "../selection";
import type { Store } from "../state";
import { dressed } from "../words";

/** What of the timeline the list is about. */
interface Shown {
  map: MapHeader;
  spread: Spread;
  imbalance: { hottest: HotRun[] } | null;
}

export class HotRunsPane {
  private runs: HotRun[] = [];
  private phase = -1;

  constructor(
    private data: Data,
    private store: Store,
  ) {
    $("hot-runs-list").addEventListener("click", (e) => {
      const button = (e.target as HTMLElement).closest<HTMLElement>("[data-run]");
      if (button) store.set({ a: this.selectionOf(this.runs[Number(button.dataset.run)]!) });
    });
    store.on(["a"], () => this.mark());
  }

  private selectionOf({ rank, from, to }: HotRun): Selection {
    return { phase: this.phase, from, to, ranks: [rank, rank + 1] };
  }

  show({ map, spread, imbalance }: Shown): void {
    $("hot-runs").hidden = imbalance === null;
    this.runs = imbalance?.hottest ?? [];
    this.phase = this.store.state.phase;
    if (!imbalance) {
      $("hot-runs-list").replaceChildren();
      return;
    }
    $("hot-runs-note").innerHTML = dressed(this.note(map, spread));
    $("hot-runs-list").innerHTML = this.runs
      .map((run, i) => `<li><button id="hot-run-${i + 1}" data-run="${i}" title="Select this rank and these iterations">${this.row(run, i, map)}</button></li>`)
      .join("");
    this.mark();
    void this.nameFunctions(map);
  }

  /** One after the other, with time for the page to answer in between. */
  private async nameFunctions(map: MapHeader): Promise<void> {
    const { runs, phase } = this,
      metric = { iteration_time: "time", computation: "execution" }[map.name] ?? map.name,
      row = this.data.header.metrics.findIndex((m) => m.name === metric);
    const list = $("hot-runs-list");
    list.setAttribute("aria-busy", "true");
    for (let i = 0; i < runs.length && row >= 0; ++i) {
      await new Promise((done) => setTimeout(done));
      if (this.runs !== runs) return; // another map is shown
      const { rank, from, to } = runs[i]!,
        found = await hotFunction(this.data, row, map.name === "computation", { phase, rank, from, to }),
        place = document.getElementById(`hot-function-${i + 1}`);
      if (this.runs !== runs || !place) return;
      if (found) place.innerHTML = `; most in <b>${escaped(shortName(found.name)).replaceAll("::", "::<wbr>")}</b>`;
    }
    list.setAttribute("aria-busy", "false");
  }

  private note(map: MapHeader, spread: Spread): string {
    if (spread.ranks.every((n) => n === 0)) return `${within(map.label)} of single iterations is not known`;
    const found = this.runs.length
        ? `ranks over ${percent(allowance)} above the median rank for a while, the most time first`
        : `no rank is above the median rank for long: over ${percent(allowance)} of the iteration and ${percent(leastShare)} of the median rank's total`,
      other = this.data.header.phases[this.phase]!,
      computation = [...(other.maps ?? []), ...(other.left_out ?? [])].find((m) => m.name === "computation");
    // A rank that all wait for makes the iterations of all of them longer.
    const hides = (map.name === "iteration_time" || map.name === "time") && computation !== undefined;
    return found + (hides ? `. ${map.label} has waiting in it, which hides a rank that others wait for: choose ${computation.label}` : "");
  }

  private row({ rank, from, to, excess, error, median }: HotRun, i: number, map: MapHeader): string {
    const { locations } = this.data.header,
      location = this.data.mainOfRank[rank]!,
      host = location < 0 ? "" : (locations.hosts[locations.host[location]!] ?? ""),
      iterations = to - from === 1 ? `iteration ${grouped(to)}` : `iterations ${grouped(from + 1)}–${grouped(to)} (${plural(to - from, "iteration")})`,
      about = error > 0 || !map.exact ? "≈ " : "",
      more = excess >= 3 * median ? times(1 + excess / median) : `${percent(excess / median)} above`,
      share = median > 0 ? `, ${more} the median rank's ${quantity(median, map.unit)} of ${within(map.label)}` : "";
    return (
      `<b class="number">${i + 1}</b> <span class="excess${error > 0 ? " rough" : ""}">${about}<b>+${quantity(excess, map.unit)}</b>${error > 0 ? ` ± ${quantity(error, map.unit)}` : ""}</span> ` +
      `<span>rank ${rank}${host ? ` on ${escaped(host)}` : ""}, ${iterations}<span class="dim">${escaped(share)}</span><span id="hot-function-${i + 1}"></span></span>`
    );
  }

  private mark(): void {
    const chosen = selectionCode(this.store.state.a);
    document
      .querySelectorAll<HTMLElement>("#hot-runs-list [data-run]")
      .forEach((button) => button.setAttribute("aria-pressed", String(selectionCode(this.selectionOf(this.runs[Number(button.dataset.run)]!)) === chosen)));
  }
}
