// The inputs of the filter.
import { labelled } from "../dom";
import { duration, grouped } from "../format";
import type { Store } from "../state";
import { filterCode, isActive, listProblem, noFilter, timeOf, timeProblem, type EventFilter } from "./filter";

export class FilterBar {
  private readonly kind = document.createElement("select");
  private readonly text = document.createElement("input");
  private readonly inside = document.createElement("input");
  private readonly from = document.createElement("input");
  private readonly to = document.createElement("input");
  private readonly ranks = document.createElement("input");
  private readonly threads = document.createElement("input");
  private readonly ranOn = document.createElement("input");
  private readonly nodes = document.createElement("input");
  private readonly access = document.createElement("select");
  private readonly clear = document.createElement("button");
  private readonly refused = document.createElement("span");

  constructor(
    host: HTMLElement,
    private readonly store: Store,
    offers: { tasks: boolean; threads: boolean; ranOn: boolean; nodes: boolean },
  ) {
    const add = (name: string, element: HTMLElement, title: string): void => {
      const label = labelled(name, element);
      label.title = title;
      element.id = `events-filter-${name.replace(/\W/g, "")}`;
      host.append(label, " ");
    };
    for (const [value, name] of [["", "all"], ["calls", "calls"], ...(offers.tasks ? [["tasks", "tasks"]] : []), ["regions", "regions"]])
      this.kind.add(new Option(name, value));
    this.text.size = this.inside.size = 16;
    for (const input of [this.from, this.to, this.ranks, this.threads, this.ranOn, this.nodes]) input.size = 7;
    add("only", this.kind, "Filter: what does not pass is pale, and is no part of statistics and CSV");
    add("with", this.text, `In the name of the function${offers.tasks ? ", or of the type of task" : ""}`);
    add("inside", this.inside, "In the name of a function of the call path");
    add("from", this.from, "Duration: 1.5 ms, 20 us, 3 s; of a task its own time");
    add("to", this.to, "Duration: 1.5 ms, 20 us, 3 s; of a task its own time");
    add("ranks", this.ranks, "0,4-7");
    if (offers.threads) add("threads", this.threads, "Of each rank: 0,4-7");
    if (offers.ranOn) add("ran on NUMA nodes", this.ranOn, "Calls and stretches of tasks that ended on processors of these nodes: 0,2-3");
    for (const [value, name] of [
      ["", "read or written"],
      ["read", "read"],
      ["written", "written"],
    ])
      this.access.add(new Option(name, value));
    if (offers.nodes) {
      add("NUMA nodes", this.nodes, "Tasks that depend on memory of these nodes: 0,2-3");
      add("that are", this.access, "How a task depends on memory of the nodes");
    }
    this.clear.textContent = "No filter";
    this.refused.className = "refused";
    this.refused.setAttribute("role", "alert");
    host.append(this.clear, " ", this.refused);
    let typing = 0; // a large trace is not filtered at every key
    for (const input of [this.text, this.inside])
      input.oninput = () => {
        clearTimeout(typing);
        typing = window.setTimeout(() => this.take(), 200);
      };
    for (const input of [this.kind, this.text, this.inside, this.from, this.to, this.ranks, this.threads, this.ranOn, this.nodes, this.access])
      input.onchange = () => this.take();
    this.clear.onclick = () => {
      this.store.set({ eventFilter: noFilter });
      this.show(); // what was refused, too
    };
    // A link may have what this profile does not know.
    const asked = store.state.eventFilter,
      known: EventFilter = {
        ...asked,
        kind: asked.kind === "tasks" && !offers.tasks ? "" : asked.kind,
        threads: offers.threads ? asked.threads : "",
        ranOn: offers.ranOn ? asked.ranOn : "",
        nodes: offers.nodes ? asked.nodes : "",
      };
    if (filterCode(known) !== filterCode(asked)) store.set({ eventFilter: known });
    store.on(["eventFilter"], () => this.show());
    this.show();
  }

  /** What makes no sense is marked, and why. */
  private marks(): boolean {
    const problems = new Map<HTMLInputElement, string>();
    for (const input of [this.from, this.to]) problems.set(input, timeProblem(input.value));
    for (const input of [this.ranks, this.threads, this.ranOn, this.nodes]) problems.set(input, listProblem(input.value));
    const [from, to] = [timeOf(this.from.value), timeOf(this.to.value)];
    if (from !== null && to !== null && from > to) for (const input of [this.from, this.to]) problems.set(input, "from is longer than to");
    for (const [input, problem] of problems) input.setAttribute("aria-invalid", String(problem !== ""));
    const [input, problem] = [...problems].find(([, text]) => text) ?? [this.from, ""];
    this.refused.textContent = !problem || problem.startsWith("from") ? problem : `${input.value} is ${problem}`;
    this.clear.hidden = !problem && !isActive(this.store.state.eventFilter);
    return problem !== "";
  }

  /** All inputs at once: one that is being typed is not lost to another one. What makes no sense changes nothing. */
  private take(): void {
    if (this.marks()) return;
    const listIn = ({ value }: HTMLInputElement): string => value.replaceAll(" ", ""),
      before = this.store.state.eventFilter,
      eventFilter: EventFilter = {
        kind: this.kind.value as EventFilter["kind"],
        text: this.text.value,
        inside: this.inside.value,
        from: timeOf(this.from.value) ?? 0,
        to: timeOf(this.to.value) ?? Infinity,
        ranks: listIn(this.ranks),
        threads: listIn(this.threads),
        ranOn: listIn(this.ranOn),
        nodes: listIn(this.nodes),
        access: this.access.value as EventFilter["access"],
      };
    if (filterCode(before) !== filterCode(eventFilter) || before.access !== eventFilter.access) this.store.set({ eventFilter });
    else this.show();
  }

  private show(): void {
    const { kind, text, inside, from, to, ranks, threads, ranOn, nodes, access } = this.store.state.eventFilter,
      spelled = (ns: number): string => (timeOf(duration(ns)) === ns ? duration(ns) : `${grouped(ns).replaceAll(",", "")} ns`);
    this.kind.value = kind;
    if (this.text.value !== text) this.text.value = text;
    if (this.inside.value !== inside) this.inside.value = inside;
    this.from.value = from > 0 ? spelled(from) : "";
    this.to.value = to < Infinity ? spelled(to) : "";
    this.ranks.value = ranks;
    this.threads.value = threads ?? "";
    this.ranOn.value = ranOn ?? "";
    this.nodes.value = nodes;
    this.access.value = access;
    this.marks();
  }
}
