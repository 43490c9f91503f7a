// The inputs of the limits and the number of shades of a heat map.
import { labelled } from "../dom";
import { duration } from "../format";
import type { Span } from "../selection";
import type { Store } from "../state";
import { timeOf } from "./filter";
import { hasLimits, hasShades, noLimits, shadeProblem, usualShades, type ShadeLimits } from "./shade_state";

export class ShadeBar {
  private readonly from = document.createElement("input");
  private readonly to = document.createElement("input");
  private readonly count = document.createElement("input");
  private readonly labels: HTMLElement[];

  constructor(
    private readonly host: HTMLElement,
    private readonly store: Store,
    /** As the durations are. */
    private readonly usual: () => Span,
  ) {
    const add = (name: string, id: string, input: HTMLInputElement, title: string): HTMLElement => {
      const label = labelled(name, input);
      label.title = title;
      input.id = `events-shades-${id}`;
      input.size = 7;
      input.onchange = () => this.take();
      host.append(label, " ");
      return label;
    };
    this.labels = [
      add("shades from", "from", this.from, "Shorter ones have the lightest shade: 20 us, 1.5 ms; empty: as the durations are"),
      add("to", "to", this.to, "Longer ones have the darkest shade: 20 us, 1.5 ms; empty: as the durations are"),
    ];
    add("number of shades", "count", this.count, "2 to 64; empty: the usual number");
    this.count.size = 3;
    this.show();
  }

  /** What makes no sense is marked, and changes nothing. */
  private take(): void {
    const { eventMode, eventShades } = this.store.state,
      time = ({ value }: HTMLInputElement): number => (value.trim() === "" ? 0 : (timeOf(value) ?? NaN)),
      number = this.count.value.trim(),
      shades: ShadeLimits = {
        from: time(this.from),
        to: time(this.to),
        count: number === "" ? 0 : /^\d+$/.test(number) && Number(number) > 0 ? Number(number) : NaN,
      },
      problem = shadeProblem(hasLimits(eventMode) ? shades : { ...noLimits, count: shades.count });
    this.mark(problem);
    if (!problem) this.store.set({ eventShades: { ...eventShades, [eventMode]: hasLimits(eventMode) ? shades : { ...noLimits, count: shades.count } } });
  }

  private mark(problem: string): void {
    for (const input of [this.from, this.to, this.count]) {
      input.setCustomValidity(problem);
      input.setAttribute("aria-invalid", String(problem !== ""));
    }
    this.host.title = problem;
    if (problem) this.count.reportValidity();
  }

  /** After a change of the mode, or of what is chosen. */
  show(): void {
    const { eventMode, eventShades } = this.store.state,
      shades = eventShades[eventMode] ?? noLimits,
      [least, most] = this.usual(),
      spelled = (ns: number): string => (ns === 0 ? "" : timeOf(duration(ns)) === ns ? duration(ns) : `${ns} ns`);
    this.host.hidden = !hasShades(eventMode);
    for (const label of this.labels) label.hidden = !hasLimits(eventMode);
    this.from.value = spelled(shades.from);
    this.to.value = spelled(shades.to);
    this.count.value = shades.count === 0 ? "" : String(shades.count);
    this.from.placeholder = duration(least);
    this.to.placeholder = duration(most);
    this.count.placeholder = String(usualShades(eventMode));
    this.mark("");
  }
}
