// The scatter plot of the selection: which series it shows, and what the pointer finds in it.
import { $ } from "../dom";
import { Picture } from "../surface";
import { fitOf, type Series } from "./amounts";
import { Scatter, type Cell } from "./scatter";
import { reveal } from "./task_pane";
import type { EventTimeline } from "./view";

export class ScatterPane {
  readonly picture: Picture;
  list: Series[] = [];
  private readonly select = $<HTMLSelectElement>("scatter-series");
  private wanted = ""; // the last choice, which stays when other times are selected
  private drawn: { of: Series; width: number; height: number; scatter: Scatter } | null = null;
  private hovered: Cell | null = null;

  constructor(private readonly timeline: EventTimeline) {
    this.picture = new Picture($("scatter"), "scatter", (s, width, height) => this.scatter(width, height)?.draw(s, this.hovered));
    const { canvas } = this.picture;
    canvas.setAttribute("aria-label", "Durations over an amount; a click shows the longest task or call of a point in the timeline.");
    this.select.onchange = () => {
      this.wanted = this.select.value;
      this.renew();
    };
    canvas.onpointermove = (e) => this.hover(this.drawn?.scatter.at(e.offsetX, e.offsetY) ?? null);
    canvas.onpointerleave = () => this.hover(null);
    canvas.onclick = (e) => {
      const cell = this.drawn?.scatter.at(e.offsetX, e.offsetY);
      if (cell) this.choose(this.drawn!.scatter.longest(cell));
    };
  }

  /** What is selected has other series; none: it is not shown. */
  show(list: Series[]): void {
    this.list = list;
    $("events-scatter").hidden = list.length === 0;
    const names = list.map(({ name, amount }) => `${name}: ${amount}`),
      at = Math.max(0, names.indexOf(this.wanted));
    this.select.replaceChildren(...names.map((name) => new Option(name)));
    if (list.length > 0) this.select.selectedIndex = at;
    this.renew();
  }

  get chosen(): Series | null {
    return this.list[this.select.selectedIndex] ?? null;
  }
  redraw(): void {
    this.picture.redraw();
  }

  private renew(): void {
    this.drawn = null;
    this.hover(null);
  }
  private scatter(width: number, height: number): Scatter | null {
    const of = this.chosen;
    if (!of) return null;
    if (this.drawn?.of !== of || this.drawn.width !== width || this.drawn.height !== height) {
      this.drawn = { of, width, height, scatter: new Scatter(of, fitOf(of), width, height) };
      $("scatter-words").textContent = this.drawn.scatter.words();
    }
    return this.drawn.scatter;
  }
  private hover(cell: Cell | null): void {
    this.hovered = cell;
    $("scatter-readout").textContent = cell && this.drawn ? this.drawn.scatter.describe(cell) : "";
    this.picture.redraw();
  }
  /** A point, in the timeline. */
  private choose(point: number): void {
    const { row, call } = this.chosen!.places[point]!,
      { store, events } = this.timeline,
      { calls, rank, place } = events!.rows[row]!,
      task = call >= calls.runs ? calls.task[call - calls.runs]! : -1;
    store.set({ task: task < 0 ? null : { rank, number: events!.tasks.number[task]! }, ...(calls.node[call]! > 0 ? { node: calls.node[call]! } : {}) });
    this.timeline.reading = { row, ns: place((calls.begin[call]! + calls.end[call]!) / 2) };
    this.timeline.onHover(this.timeline.reading);
    reveal(this.timeline, row, call);
  }
}
