// Ranks over time: the strip, its tool bar and its legend.
import { css } from "../color";
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped } from "../format";
import type { Store, StripRows } from "../state";
import { Strip } from "../strip";
import { classColors, otherColor } from "../strip/contexts";
import { dressed, sentence } from "../words";

const hint = "drag: select time and ranks · click: the call path, iteration and rank · Ctrl+wheel: zoom · Shift+drag: move · ↑ ↓: depth";
const shownPaths = 8;

export class StripPane {
  readonly strip: Strip;
  private readonly rowsSelect = $<HTMLSelectElement>("strip-rows");
  private readonly depthSelect = $<HTMLSelectElement>("strip-depth");

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const { strip: traced, job, causes } = data.header;
    this.strip = new Strip($("strip"), data, store);
    $("strip-section").hidden = !traced && store.state.phase < 0;
    const rows = traced ? Math.min(16, Math.max(traced.ranks.length, traced.clusters.length * 2)) : Math.min(16, job.ranks);
    $("strip").style.height = `${34 + causes.list.length * 12 + Math.max(70, Math.min(260, rows * 26))}px`;
    const choices: [StripRows, string][] = [
      ["clusters", "clusters of ranks"],
      ["ordered", "ranks, by cluster"],
      ["ranks", "ranks"],
    ];
    for (const [value, text] of choices) if (traced || value === "ranks") this.rowsSelect.add(new Option(text, value));
    $("depth-label").hidden = !traced;
    this.rowsSelect.onchange = () => store.set({ rows: this.rowsSelect.value as StripRows });
    this.depthSelect.onchange = () => store.set({ depth: Number(this.depthSelect.value) });
    $("time-in").onclick = () => this.strip.zoom(0.5);
    $("time-out").onclick = () => this.strip.zoom(2);
    $("time-all").onclick = () => store.set({ time: store.wholeTime() });
    $("strip-readout").textContent = hint;
    this.strip.onHover = (cell) => ($("strip-readout").textContent = cell ? this.strip.describe(cell) : hint);
    $("strip-legend").addEventListener("click", (e) => {
      const button = (e.target as HTMLElement).closest<HTMLElement>("[data-context]");
      if (button && traced) store.set({ node: traced.tree.node[Number(button.dataset.context)]! });
    });
    store.on(["rows", "depth", "a"], () => {
      this.showControls();
      this.strip.renew();
    });
    store.on(["time", "cause"], () => this.strip.picture.redraw());
    store.on(["phase"], () => void this.strip.load());
    store.on(["theme"], () => {
      this.showLegend();
      this.strip.renew();
    });
    $("strip-notes").innerHTML = this.notes()
      .map((text) => dressed(sentence(text)))
      .join(" ");
    void this.strip.load().then(() => {
      for (let depth = -1; depth <= (this.strip.contexts?.deepest ?? -1); ++depth)
        this.depthSelect.add(new Option(depth < 0 ? "significant call paths" : String(depth), String(depth)));
      store.set({ depth: Math.min(store.state.depth, this.strip.contexts?.deepest ?? -1) });
      this.showControls();
      this.showLegend();
    });
  }

  private showControls(): void {
    this.rowsSelect.value = this.store.state.rows;
    this.depthSelect.value = String(this.store.state.depth);
  }

  private notes(): string[] {
    const { strip, phases, begins_known, clock_limits } = this.data.header,
      laid = begins_known
        ? []
        : ["iterations of some ranks lie end to end from their start, as the profile does not have when they began: marks may be off by the time between them"];
    if (!strip)
      return [
        "each rank's iterations, in the colours of their kinds",
        "LIBPROFILE_TRACE=1 shows what ranks do inside them, and clusters of ranks",
        ...laid,
        ...clock_limits,
      ];
    return [...strip.notes, ...clock_limits, ...(phases.some((p) => p.begins) ? laid : [])];
  }

  private showLegend(): void {
    const traced = this.data.header.strip,
      contexts = this.strip.contexts;
    if (!traced || !contexts) return;
    const swatch = (color: [number, number, number]): string => `<i class="swatch" style="background:${css(color)}"></i>`;
    const paths = traced.significant
      .slice(0, shownPaths)
      .map(
        ({ context, text }) =>
          `<li><button data-context="${context}" title="Show it in the call paths">${swatch(contexts.color(context))}<span>${escaped(contexts.shortName(context))}</span> <span class="dim">${traced.tree.class[context]}: ${dressed(text)}</span></button></li>`,
      );
    const classes = (["computation", "wait", "synchronisation"] as const).map((name) => `${swatch(classColors[name][0]!)}${name}`);
    $("strip-legend").innerHTML =
      `<li class="dim">${classes.join(" ")} ${swatch(otherColor(false))}other ${swatch(otherColor(true))}other, in MPI</li>` +
      paths.join("") +
      (traced.significant.length > shownPaths ? `<li class="dim">and ${traced.significant.length - shownPaths} more</li>` : "");
  }
}
