// The timeline, its tool bar, and what the selected part of it consists of.
import { css, warmth } from "../color";
import type { Data } from "../data";
import { $, messageOf } from "../dom";
import { duration, escaped, grouped, percent, plural } from "../format";
import type { Span } from "../selection";
import type { EventMode, EventSpan, Store } from "../state";
import { dressed, sentence } from "../words";
import { coloredTypes, stateColors, typeColor, type Rgb } from "./colors";
import { exported } from "./export";
import { FilterBar } from "./filter_bar";
import { seriesOf, type Series } from "./amounts";
import { Overlays } from "./overlays";
import { ScatterPane } from "./scatter_pane";
import { callStatistics, taskStatistics, type Durations } from "./statistics";
import { statisticsHtml } from "./statistics_words";
import { connectTask } from "./task_pane";
import { nodeMatrixHtml, rankMatrixHtml } from "./matrix_words";
import { nodeMatrix, type NodeMatrix } from "./places";
import { ShadeBar } from "./shade_bar";
import { coloredNodes, nodeColor, remoteColor } from "./task_colors";
import { typeName } from "./task_words";
import { isIteration, sharesOf, type Matrix, type Shares } from "./shares";
import { EventTimeline } from "./view";
import { csvOf, describe, moment } from "./words";

const hint = "drag: select times · click: an iteration, a call, a task · Ctrl+wheel or W S: zoom · Shift+drag or A D: move · Shift+← →: call by call";

const nodeModes = [
  ["read_map", "NUMA node of reads"],
  ["write_map", "NUMA node of writes"],
  ["remote", "remote accesses of tasks"],
];

export class EventsPane {
  /** null if no events were recorded. */
  readonly timeline: EventTimeline | null;
  overlays: Overlays | null = null;
  scatter: ScatterPane | null = null;
  private shadeBar: ShadeBar | null = null;
  private readonly modeSelect = $<HTMLSelectElement>("events-mode");

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const { events } = data.header;
    $("events-section").hidden = !events;
    this.timeline = events ? new EventTimeline($("events"), data, store) : null;
    if (!events || !this.timeline) return;
    const timeline = this.timeline;
    this.overlays = new Overlays(timeline, $("events-overlays"));
    $("events").style.height = `${timeline.wantedHeight}px`;
    for (const [value, text] of [
      ["state", "state"],
      ["duration", "duration of calls"],
      ...(events.types.length > 0 ? [["type", "type of task"]] : []),
      ...(events.types.length > 0 && !events.indexed ? [["task_duration", "duration of tasks"], ...(events.task_nodes ? nodeModes : [])] : []),
      ["kind", "kind of iteration"],
    ])
      this.modeSelect.add(new Option(text, value));
    if (![...this.modeSelect.options].some(({ value }) => value === store.state.eventMode)) store.set({ eventMode: "state" }); // of a link
    this.modeSelect.onchange = () => store.set({ eventMode: this.modeSelect.value as EventMode });
    $("events-in").onclick = () => timeline.move(0.5);
    $("events-out").onclick = () => timeline.move(2);
    $("events-all").onclick = () => store.set({ moment: store.wholeMoment() });
    $("events-previous").onclick = () => this.toKept(-1);
    $("events-next").onclick = () => this.toKept(1);
    $("events-clear").onclick = () => store.set({ eventSpan: null });
    timeline.onEvents = () => this.showMode();
    timeline.onHover = (place) => {
      $("events-readout").textContent = place && timeline.events ? describe(data, timeline.events, place.row, place.ns) : hint;
    };
    $("events-readout").textContent = hint;
    $("events-notes").innerHTML = [...events.notes, ...data.header.clock_limits].map((text) => dressed(sentence(text))).join(" ");
    new FilterBar($("events-filter"), store, {
      tasks: events.types.length > 0,
      threads: data.header.locations.thread.some((thread, l) => thread > 0 && (events.rows.parts[l]! > 0 || events.indexed?.[l] === true)),
      ranOn: !!events.ran_on,
      nodes: !!events.task_nodes,
    });
    connectTask(timeline, $("events-task"));
    this.scatter = new ScatterPane(timeline);
    store.on(["moment", "task"], () => timeline.picture.redraw());
    store.on(["eventFilter"], () => {
      if (!timeline.events) return;
      timeline.filter();
      timeline.renew();
      this.showShares();
    });
    store.on(["eventSpan"], () => {
      this.showShares();
      timeline.picture.redraw();
    });
    this.shadeBar = new ShadeBar($("events-shades"), store, () => timeline.usualLimits);
    store.on(["eventMode", "eventShades", "theme"], () => {
      timeline.renew();
      this.showMode();
      this.showShares();
    });
  }

  async load(): Promise<void> {
    await this.timeline?.load();
    if (!this.timeline) return;
    await this.overlays!.load();
    this.showMode();
    this.showShares();
  }

  /** Shows the next or previous kept iteration, of the first row, with what is around it. */
  private toKept(direction: 1 | -1): void {
    const timeline = this.timeline!,
      row = timeline.reading ? timeline.events?.rows[timeline.reading.row] : timeline.shownRows[0],
      span = row && timeline.nextKept(row, direction);
    if (!span) return;
    const [t0, t1] = this.store.state.moment,
      length = span[1] - span[0],
      width = t1 - t0 > 4 * length || t1 - t0 < length ? 1.6 * length : t1 - t0,
      middle = (span[0] + span[1]) / 2;
    this.store.set({ moment: this.store.clampedMoment([middle - width / 2, middle + width / 2]) });
  }

  private showMode(): void {
    const { eventMode } = this.store.state,
      { shades, events } = this.timeline!,
      header = this.data.header.events!,
      colors = stateColors(header),
      swatch = (color: string): string => `<i class="swatch" style="background:${color}"></i>`;
    this.modeSelect.value = eventMode;
    this.shadeBar?.show();
    if (!events) return;
    let items: string[];
    if (eventMode === "state") {
      const used = new Set([0]);
      for (const row of events.rows) {
        row.states.what.forEach((what) => used.add(what));
        row.pixels?.runs.passing?.forEach((state) => state > 0 && used.add(state - 1));
        row.stretches.sums.forEach((ns, i) => ns > 0 && used.add(i % header.states.length));
      }
      items = header.states.flatMap((state, s) => (used.has(s) ? [`${swatch(css(colors[s]!))}${escaped(state.name)}`] : []));
      if (used.has(header.states.length)) items.push("stripes: sums of iterations without events");
      if (events.rows.some((row) => row.states.what.includes(header.states.length + 1) || row.place(row.states.begins[0] ?? 0) > events.rows[0]!.place(0)))
        items.push("blank: nothing is known");
      if (events.rows.some((row) => row.regions)) items.push("below: named and parallel regions");
    } else if (eventMode === "type") {
      items = header.types.slice(0, 12).map((_, type) => `${swatch(css(typeColor(type)))}${escaped(typeName(this.data, type))}`);
      if (header.types.length > 12) items.push(`and ${plural(header.types.length - 12, "type")} more`);
      items.push("grey: in no task");
    } else if (eventMode === "duration" || eventMode === "task_duration") {
      items = [0, 0.25, 0.5, 0.75, 1].map((t) => `${swatch(css(warmth(0.12 + 0.88 * t)))}${duration(shades.least * (shades.most / shades.least) ** t)}`);
      items.push(`the longest ${eventMode === "duration" ? "call" : "task (own time)"} of each pixel; grey: iterations without events`);
    } else if (eventMode === "read_map" || eventMode === "write_map") {
      const nodes = events.tasks.places?.nodes ?? 0;
      items = Array.from({ length: Math.min(nodes, coloredNodes) }, (_, node) => `${swatch(css(nodeColor(node)))}node ${node}`);
      if (nodes > coloredNodes) items.push(`${swatch(css(nodeColor(coloredNodes)))}node ${coloredNodes} and higher`);
      items.push(
        `the NUMA node on which most of what a task ${eventMode === "read_map" ? "reads" : "writes"} lies; grey: none, or not known; pale: in no task`,
      );
    } else if (eventMode === "remote") {
      const last = this.timeline!.shadeCount - 1,
        steps = last <= 10 ? last : 5;
      items = Array.from({ length: steps + 1 }, (_, i) => Math.round((i * last) / steps) / last).map(
        (share) => `${swatch(css(remoteColor(share)))}${Math.round(100 * share)}\u202f%`,
      );
      items.push("of the accesses of a task go to another NUMA node; grey: not known; pale: in no task");
    } else items = ["colours are those of the kinds of iterations below; grey: outside iterations"];
    $("events-legend").innerHTML = items.map((item) => `<li>${item}</li>`).join("");
  }

  /** Of the selection; null without one. */
  shares(): Shares | null {
    const { eventSpan } = this.store.state,
      events = this.timeline?.events;
    return eventSpan && events ? sharesOf(events, this.data.header.events!, eventSpan, this.timeline!.pieces!) : null;
  }

  private showShares(): void {
    const { eventSpan } = this.store.state,
      { asked } = this.timeline!;
    if (!asked || !eventSpan) return this.showSharesOf(this.shares());
    [this.counted, this.countedMatrix, $("events-durations").innerHTML, $("events-messages").innerHTML] = [null, undefined, "", ""]; // of another selection
    const { eventFilter } = this.store.state,
      isWanted = (): boolean => this.store.state.eventSpan === eventSpan && this.store.state.eventFilter === eventFilter,
      tell = (text: string): void => {
        clearTimeout(this.waiting);
        $("events-shares").hidden = false;
        $("events-shares").textContent = text;
      };
    asked.shares(eventSpan, this.timeline!.pieces!, isWanted, tell).then(
      (shares) => isWanted() && this.showSharesOf(shares),
      (error) => {
        if (!isWanted()) return;
        tell(messageOf(error));
        this.showDurationsSoon(eventSpan); // of tasks they are known where shares are not
      },
    );
  }

  private showSharesOf(shares: Shares | null): void {
    const { eventSpan } = this.store.state,
      host = $("events-shares");
    clearTimeout(this.waiting);
    $("events-clear").hidden = !eventSpan;
    host.hidden = !shares;
    $("events-durations").hidden = $("events-messages").hidden = !shares;
    if (!shares || !eventSpan) return this.scatter!.show([]);
    const { states } = this.data.header.events!,
      colors = stateColors(this.data.header.events!),
      { passing } = this.timeline!.pieces!,
      estimated = shares.summed.some((ns) => ns > 0);
    const name = isIteration(eventSpan)
      ? `Iteration ${eventSpan.number + 1} of ${this.data.phaseName(eventSpan.phase)}`
      : `${moment(shares.from)} to ${moment(shares.to)}`;
    const rows = states
      .map((state, s) => ({ name: state.name, color: colors[s]!, ns: shares.states[s]! + shares.summed[s]! }))
      .filter(({ ns }) => ns > 0)
      .sort((a, b) => b.ns - a.ns);
    host.innerHTML =
      `<div><p><b>${escaped(name)}</b>: ${duration(shares.to - shares.from)} on ${plural(shares.rows, "thread")}; ` +
      `on average ${shares.parallelism.toFixed(2)} of them ${passing.isActive ? "are in what passes the filter" : "compute"} at a time` +
      `${estimated ? "; in part from sums of iterations without events" : ""}</p>` +
      `<table class="parts">${rows
        .map(
          (row) =>
            `<tr><td><i class="swatch" style="background:${css(row.color)}"></i>${escaped(row.name)}</td>` +
            `<td><b>${percent(row.ns / shares.all)}</b></td><td>${duration(row.ns)}</td></tr>`,
        )
        .join("")}</table></div>` +
      (shares.matrix ? rankMatrixHtml(shares.matrix) : "");
    this.showDurationsSoon(eventSpan);
  }
  /** Those of a large trace would slow a drag down. */
  private showDurationsSoon(span: EventSpan): void {
    $("events-clear").hidden = $("events-durations").hidden = $("events-messages").hidden = false;
    this.waiting = window.setTimeout(() => void this.showDurations(span), 80);
  }
  private waiting = 0;
  /** Of the selection of a trace that is larger than the page. */
  private counted: Durations | null = null;
  private countedMatrix?: Matrix | null;

  private async showDurations(span: EventSpan): Promise<void> {
    const host = $("events-durations"),
      { asked } = this.timeline!,
      { eventFilter } = this.store.state,
      show = (): void => {
        host.innerHTML = this.durationsHtml();
        this.scatter!.show(this.series());
      };
    if (!asked) return show();
    const isWanted = (): boolean => this.store.state.eventSpan === span && this.store.state.eventFilter === eventFilter;
    /** What another selection has stays there. */
    const count = async <Answer>(into: HTMLElement, answer: Promise<Answer | null>, take: (answer: Answer | null) => void): Promise<void> => {
      try {
        const counted = await answer;
        if (isWanted()) take(counted);
      } catch (error) {
        if (isWanted()) into.textContent = messageOf(error);
      }
    };
    const tell =
      (into: HTMLElement) =>
      (progress: string): void => {
        into.textContent = progress;
      };
    await count(host, asked.durations(span, eventFilter, isWanted, tell(host)), (counted) => {
      this.counted = counted;
      show();
    });
    if (!isWanted()) return;
    const messages = $("events-messages");
    await count(messages, asked.matrix(span, eventFilter, isWanted, tell(messages)), (matrix) => {
      this.countedMatrix = matrix;
      messages.innerHTML = matrix ? rankMatrixHtml(matrix) : "";
    });
  }

  /** Who sends how much to whom in the selection; null: there are no messages, undefined: they are not counted yet. */
  matrix(): Matrix | null | undefined {
    return this.timeline!.asked ? this.countedMatrix : (this.shares()?.matrix ?? null);
  }

  /** Of the selected calls and tasks; null while they are counted. */
  durations(): Durations | null {
    const { events, pieces, asked } = this.timeline!,
      { passing } = pieces!,
      { eventSpan } = this.store.state;
    if (asked) return this.counted;
    const spans = this.timeline!.selected(),
      tasks = taskStatistics(this.data, events!, spans, !!eventSpan && isIteration(eventSpan), passing);
    return { ...tasks, tooLong: 0, unfinished: 0, calls: callStatistics(this.data, events!, spans, passing) };
  }

  /** Durations of the selected calls and tasks, with their amounts. */
  series(): Series[] {
    const { eventSpan } = this.store.state,
      timeline = this.timeline!;
    if (timeline.asked) return []; // which has not all of them
    return seriesOf(this.data, timeline.events!, timeline.selected(), !!eventSpan && isIteration(eventSpan), timeline.pieces!.passing);
  }

  /** Accesses of the selected tasks, by NUMA nodes. */
  accesses(): NodeMatrix | null {
    const { eventSpan } = this.store.state,
      timeline = this.timeline!;
    return nodeMatrix(timeline.events!, timeline.selected(), !!eventSpan && isIteration(eventSpan), timeline.pieces!.passing);
  }

  private durationsHtml(): string {
    const { tasks, incomplete, tooLong, unfinished, calls } = this.durations()!,
      { types } = this.data.header.events!,
      names = types.map((_, type) => typeName(this.data, type)),
      accesses = this.accesses(),
      colored = (name: string): number => names.findIndex((one) => name === one || (!!this.timeline!.asked && name.startsWith(`${one} `))), // where it was made, too
      color = (name: string): Rgb => typeColor(colored(name) < 0 ? coloredTypes : colored(name)),
      isFiltered = !!this.timeline!.asked && this.timeline!.pieces!.passing.isActive,
      missing =
        (incomplete > 0 ? `; of ${grouped(incomplete)} ${isFiltered ? "others" : "more"} not all was kept` : "") +
        (tooLong > 0 ? `; ${grouped(tooLong)} more were created too long before their end to be followed` : "") +
        (unfinished > 0 ? `; ${grouped(unfinished)} more were not over at its end` : "");
    return (
      statisticsHtml("task", tasks, ({ name }) => color(name), true, `: their own times${missing}`) +
      statisticsHtml("call", calls, null, false, "") +
      (accesses ? nodeMatrixHtml(accesses) : "")
    );
  }

  /** What is seen, for a file. */
  picture(): ReturnType<typeof exported> | null {
    return this.timeline && exported(this.timeline);
  }

  /** The calls of the selection, or of what is shown. */
  csv(): string | undefined {
    const events = this.timeline?.events;
    if (!events) return undefined;
    const [t0, t1] = this.store.state.moment,
      spans = this.store.state.eventSpan ? this.timeline!.selected() : events.rows.map((row): Span => [row.own(t0), row.own(t1)]);
    return csvOf(this.data, events, spans, this.timeline!.pieces!.passing);
  }
}
