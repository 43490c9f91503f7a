// Iterations: the timeline and its tool bar.
import type { Data } from "../data";
import { canDeviate } from "../deviations";
import { $, messageOf } from "../dom";
import { grouped } from "../format";
import type { Measure, Store } from "../state";
import { Timeline } from "../timeline";
import { laneHeight } from "../timeline/marks";
import { HotRunsPane } from "./hot_runs";

const hint = "drag: select iterations (in the map also ranks) · click: one · Ctrl+wheel: zoom · Shift+wheel: zoom ranks · Shift+drag: move · ? for keys";

export class IterationsPane {
  /** null if no phase has iterations. */
  readonly timeline: Timeline | null;
  private readonly phaseSelect = $<HTMLSelectElement>("phase");
  private readonly mapSelect = $<HTMLSelectElement>("map-metric");
  private readonly measureSelect = $<HTMLSelectElement>("measure");
  private readonly poolingSelect = $<HTMLSelectElement>("pooling");

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const { header } = data;
    this.timeline = store.state.phase >= 0 ? new Timeline($("timeline"), data, store) : null;
    $("timeline").classList.toggle("few", header.job.ranks <= 4);
    $("iterations").hidden = this.timeline === null;
    header.phases.forEach((p, i) => {
      if (p.iterations) this.phaseSelect.add(new Option(`${data.phaseName(i)} (${grouped(p.iterations)})`, String(i)));
    });
    this.fillMaps();
    this.connect();
    $("readout").textContent = hint;
    store.on(["phase"], () => this.fillMaps());
    store.on(["phase", "map", "measure", "pooling"], () => {
      this.showControls();
      void this.timeline?.load();
    });
    const lanes = header.causes.list.length * laneHeight;
    if (lanes > 0) $("timeline").style.height = `${(header.job.ranks <= 4 ? 330 : 430) + lanes}px`;
    store.on(["zoom", "a", "b", "cause"], () => this.timeline?.picture.redraw());
  }

  private connect(): void {
    const { data, store, timeline } = this,
      { header } = data;
    this.phaseSelect.onchange = () => {
      const phase = Number(this.phaseSelect.value);
      store.set({ phase, map: header.phases[phase]!.maps![0]!.name, zoom: store.wholeZoom(phase), a: { phase: -1, from: 0, to: 0, ranks: null } });
    };
    this.mapSelect.onchange = async () => {
      const name = this.mapSelect.value; // the list forgets it while it is filled
      if (!(await this.obtain(name))) return;
      const row = header.metrics.findIndex((m) => m.name === name);
      store.set({ map: name, row: row >= 0 ? row : name === "iteration_time" ? 0 : store.state.row });
    };
    this.measureSelect.onchange = () => store.set({ measure: this.measureSelect.value as Measure });
    this.poolingSelect.onchange = () => store.set({ pooling: this.poolingSelect.value as "max" | "mean" });
    $("zoom-in").onclick = () => timeline?.zoomBy(0.5, "x");
    $("zoom-out").onclick = () => timeline?.zoomBy(2, "x");
    $("zoom-all").onclick = () => store.set({ zoom: store.wholeZoom(store.state.phase) });
    if (timeline) {
      const hotRuns = new HotRunsPane(data, store);
      timeline.onLoad = () => hotRuns.show(timeline.loaded!);
    }
    if (timeline) timeline.onHover = (cell) => ($("readout").textContent = cell ? timeline.describe(cell) : hint);
  }

  private fillMaps(): void {
    const { header } = this.data,
      phase = header.phases[this.store.state.phase];
    this.mapSelect.replaceChildren(...(phase?.maps ?? []).map((m) => new Option(m.label + (m.exact ? "" : " (estimate)"), m.name)));
    for (const { name, label } of phase?.left_out ?? []) {
      const option = new Option(header.served ? label : `${label}: not in this page, see --metric`, name);
      option.disabled = !header.served;
      this.mapSelect.add(option);
    }
    this.showControls();
  }

  private showControls(): void {
    const s = this.store.state;
    this.phaseSelect.value = String(s.phase);
    this.mapSelect.value = s.map;
    this.poolingSelect.value = s.pooling;
    // Other metrics than times show their values, and the choice stays for the next time.
    const map = this.data.map(s.phase, s.map),
      can = map !== undefined && canDeviate(map, this.data.header.job.ranks);
    this.measureSelect.disabled = !can;
    this.measureSelect.value = can ? s.measure : "value";
    $("measure-label").title = can ? "" : "Several ranks, and metrics that are times, can be shown as deviation from the median rank";
  }

  /** Reads a map that is not in the page. Returns false if there is none, or if another phase was chosen while it came. */
  async obtain(name: string): Promise<boolean> {
    const phase = this.store.state.phase;
    if (this.data.map(phase, name)) return true;
    $("readout").textContent = `Reading ${name} …`;
    try {
      await this.data.obtainMap(phase, name);
    } catch (error) {
      $("readout").textContent = messageOf(error);
      this.showControls();
      return false;
    }
    $("readout").textContent = hint;
    if (this.store.state.phase !== phase || !this.data.map(phase, name)) return false;
    this.fillMaps();
    return true;
  }

  /** Values over ranks of the map that is shown. */
  async csv(): Promise<string> {
    const s = this.store.state,
      map = this.data.map(s.phase, s.map)!,
      spread = await this.data.spread(s.phase, map);
    const lines = [`iteration,minimum [${map.unit}],median,maximum,sum,rank with the maximum`];
    for (let i = 0; i < spread.maximum.length; ++i)
      lines.push([i + 1, spread.minimum[i], spread.median[i], spread.maximum[i], spread.sum[i], spread.slowest[i]].join(","));
    return lines.join("\n") + "\n";
  }
}
