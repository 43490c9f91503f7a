// Where curves are typed and chosen, what is wrong with them, and their values under the pointer.
import { labelled } from "../dom";
import { duration, escaped } from "../format";
import { Curve, mostCurves, valueWords } from "./curves";
import { sourcesOf } from "./curve_state";
import { ExpressionError } from "./expression";
import type { TrackSource } from "./tracks";
import type { EventTimeline } from "./view";

/** Words and expression, for what the page has. */
export function readyMade({ names, events }: TrackSource): [string, string][] {
  const quoted = (name: string): string => (/^[A-Za-z_](?:[\w.]|::)*$/.test(name) ? name : `"${name}"`),
    mpi = names.functions.find((name) => name.startsWith("MPI_")),
    list: [string, string][] = [
      ["threads that compute", "threads(computing)"],
      ["share of threads in calls", "1 - threads(computing) / threads()"],
    ];
  if (mpi) list.push([`threads in ${mpi}`, `threads(${mpi})`], [`average duration of ${mpi}`, `duration(${mpi})`]);
  if (names.functions.some((name) => name.startsWith("MPI_"))) list.push(["MPI calls per second", 'd(calls("MPI_*")) / dt']);
  if (names.states.includes("openmp")) {
    const omp = names.functions.find((name) => /^(omp|OpenMP|GOMP)/i.test(name));
    if (omp) list.push([`threads in ${omp}`, `threads(${quoted(omp)})`]);
  }
  if (events.messages.count > 0 || names.hasSenders) list.push(["bytes sent per second", "d(bytes()) / dt"], ["average message", "d(bytes()) / d(messages())"]);
  if (events.messages.count > 0) list.push(["messages on their way", "in_flight()"], ["bytes sent so far", "bytes()"]);
  if (names.hasNoPairs) list.push(["bytes received per second", "d(received()) / dt"]);
  if (names.hasNodes)
    list.push(["share of remote accesses", "d(remote()) / d(accesses())"], ["accesses to memory of node 0 from others", "d(remote(*, 0)) / dt"]);
  list.push(["most minus mean computing, over threads", "max(threads(computing)) - mean(threads(computing))"]);
  for (const { name } of names.counters) list.push([`${name} per second`, `d(${quoted(name)}) / dt`]);
  return list;
}

const intervals = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

export class CurveBar {
  curves: Curve[] = [];
  private readonly input = document.createElement("input");
  private readonly ready = document.createElement("select");
  private readonly every = document.createElement("select");
  private readonly place = document.createElement("select");
  private readonly error = document.createElement("pre");
  private readonly readout = document.createElement("p");
  private readonly hide = document.createElement("button");
  private tracks: TrackSource | null = null;
  private hidden = "";

  /** @param onChange other curves are shown */
  constructor(
    host: HTMLElement,
    private readonly timeline: EventTimeline,
    private readonly onChange: () => void,
  ) {
    const { store } = timeline,
      bar = document.createElement("div"),
      label = (text: string, element: HTMLElement): HTMLElement => {
        const one = labelled(text, element);
        one.className = "typed"; // a page of a job that runs does not renew itself meanwhile
        return one;
      };
    bar.className = "bar-line curve-bar";
    this.input.id = "curve-input";
    this.input.size = 46;
    this.input.maxLength = 3000;
    this.input.spellcheck = false;
    this.input.placeholder = "threads(computing); d(bytes()) / dt";
    this.input.title = "Expressions with ; between them (docs/view.md)";
    this.ready.id = "curve-ready";
    this.every.id = "curve-every";
    this.place.id = "curve-place";
    this.error.id = "curve-error";
    this.error.setAttribute("role", "alert");
    this.readout.id = "curve-readout";
    this.readout.className = "readout";
    this.hide.id = "curve-hide";
    this.hide.textContent = "No curves";
    this.hide.onclick = () => this.toggle();
    this.place.append(new Option("below the rows", ""), new Option("over the rows", "over"));
    this.every.append(new Option("by the zoom", "0"), ...intervals.map((ns) => new Option(duration(ns), String(ns))));
    const known = intervals.includes(store.state.curves.every) || store.state.curves.every === 0;
    if (!known) this.every.add(new Option(duration(store.state.curves.every), String(store.state.curves.every)));
    bar.append(label("curves", this.input), this.ready, label("per", this.every), this.place, this.hide);
    host.append(bar, this.error, this.readout);
    this.input.addEventListener("change", () => store.set({ curves: { ...store.state.curves, sources: this.input.value.trim() } }));
    this.input.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      timeline.picture.canvas.focus();
    });
    this.every.onchange = () => store.set({ curves: { ...store.state.curves, every: Number(this.every.value) } });
    this.place.onchange = () => store.set({ curves: { ...store.state.curves, isOver: this.place.value === "over" } });
    this.ready.onchange = () => {
      const { sources } = store.state.curves;
      store.set({ curves: { ...store.state.curves, sources: (sources ? sources + "; " : "") + this.ready.value } });
      this.ready.selectedIndex = 0;
    };
    store.on(["curves"], () => this.show());
  }

  load(tracks: TrackSource): void {
    this.tracks = tracks;
    this.ready.append(new Option("add …", ""), ...readyMade(tracks).map(([words, source]) => new Option(words, source)));
    for (const option of this.ready.options) option.title = option.value;
    this.show();
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** Hides the curves, or shows those again that were hidden. */
  toggle(): void {
    const { store } = this.timeline,
      { curves } = store.state;
    if (curves.sources) this.hidden = curves.sources;
    store.set({ curves: { ...curves, sources: curves.sources ? "" : this.hidden } });
  }

  private show(): void {
    if (!this.tracks) return;
    const { curves } = this.timeline.store.state,
      before = this.curves,
      problems: string[] = [];
    this.input.value = curves.sources;
    this.every.value = String(curves.every);
    this.place.value = curves.isOver ? "over" : "";
    this.hide.hidden = !curves.sources;
    this.curves = [];
    for (const { source, at } of sourcesOf(curves.sources)) {
      if (this.curves.length === mostCurves) {
        problems.push(`at most ${mostCurves} curves are shown`);
        break;
      }
      try {
        this.curves.push(before.find((curve) => curve.source === source) ?? new Curve(source, this.tracks));
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const marks = " ".repeat(Math.min(error.at, source.length)) + "^".repeat(Math.max(1, Math.min(error.length, source.length - error.at)));
        problems.push(`${source}\n${marks} character ${at + error.at + 1}: ${error.message}`);
      }
    }
    this.error.innerHTML = escaped(problems.join("\n"));
    this.error.hidden = problems.length === 0;
    this.input.setAttribute("aria-invalid", String(problems.length > 0));
    this.tell();
    this.onChange();
  }

  /** The values under the pointer, or where keys read. */
  tell(): void {
    const place = this.timeline.hover ?? this.timeline.reading;
    this.readout.hidden = this.curves.length === 0;
    this.readout.textContent = place
      ? this.curves
          .map((curve) => {
            const value = curve.at(place.ns);
            return `${curve.source} = ${Number.isNaN(value) ? "not known" : valueWords(value, curve.unit)}`;
          })
          .join(" · ")
      : "";
  }
}
