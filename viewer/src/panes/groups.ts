// Groups of ranks that do the same: how they part, and a strip of each over the iterations, which unfolds into its ranks.
import { clusterColors, css } from "../color";
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped, plural } from "../format";
import { folds, Groups, type Fold, type GroupSpan } from "../groups";
import type { GroupsHeader } from "../header";
import { scatteredSelection, spansOfFlat, type Span } from "../selection";
import type { Store } from "../state";
import type { Picture } from "../surface";
import { left, right } from "../timeline/axes";
import { dressed, sentence } from "../words";
import { GroupStrip, type Line, type StripOwner } from "./group_strip";
import { GroupsPicture } from "./groups_picture";
import { SkewPicture } from "./skew";

const hint = "click a strip: select these iterations and ranks · ▸ shows the ranks of a group · keys: ← → ↑ ↓ read, Enter selects";

/** Green: all make the call equally often; blue: not equally often; red: some do not make it. The words say the same. */
function mergedTable({ calls, left_out }: NonNullable<GroupsHeader["merged"]>): string {
  const words = { same: "all, equally often", differs: "all, not equally often", "not all": "not all" },
    rows = calls.map(
      (call) =>
        `<tr><td style="padding-left:${10 + 14 * (call.depth - 1)}px"><i class="${call.class.replace(" ", "-")}"></i>${escaped(call.name)}</td><td>${words[call.class]}</td><td>${escaped(call.ranks)}</td><td>${escaped(call.times)}</td></tr>`,
    );
  return (
    `<table><thead><tr><th>call, in order</th><th>who makes it</th><th>ranks</th><th>times</th></tr></thead><tbody>${rows.join("")}</tbody></table>` +
    (left_out ? `<p class="dim">and ${plural(left_out, "more call")}; libprofile structure --format json has all</p>` : "")
  );
}

/** What a page that renews itself keeps. */
export interface KeptGroups {
  fold: string;
  unfolded: string[]; // names of groups
  /** What has the focus, if it is a part of a group: its button in the list, the one that unfolds it, or a strip and the iteration that it reads. */
  focus: { name: string; part: "group" | "unfold" | "strip"; rank: number; reading: number | null } | null;
}

export class GroupsPane {
  groups: Groups | null = null;
  readonly loaded: Promise<void> = Promise.resolve();
  skew: SkewPicture | null = null;
  private strips: GroupStrip[] = [];
  private readonly unfolded = new Set<number>();
  private readonly select = $<HTMLSelectElement>("groups-fold");

  constructor(
    private data: Data,
    private store: Store,
  ) {
    const header = data.header.groups;
    $("groups-section").hidden = !header;
    if (!header) return;
    $("groups-levels").innerHTML = dressed(sentence(header.levels));
    $("groups-list").innerHTML =
      header.groups
        .slice(1)
        .map(
          (one, i) =>
            `<li><button data-group="${i + 1}" title="Select its ranks"><b>${escaped(one.name)}</b> <span>${dressed(one.sentence)}</span></button></li>`,
        )
        .join("") + (header.left_out ? `<li class="dim">and ${plural(header.left_out, "more group")}, none larger</li>` : "");
    $("groups-notes").innerHTML = [...header.distances, ...header.remarks, ...(header.window > 1 ? [`a point of a strip is ${header.window} iterations`] : [])]
      .map((text) => dressed(sentence(text)))
      .join(" ");
    $("merged-section").hidden = !header.merged;
    if (header.merged) $("merged").innerHTML = mergedTable(header.merged);
    const meaning: Record<Fold, string> = {
      dominating: "what most ranks do",
      outliers: "where ranks differ: what the others do",
      use: "does any rank compute?",
    };
    for (const fold of folds) this.select.add(new Option(meaning[fold], fold));
    this.select.onchange = () => this.show();
    this.tell(null, false);
    this.namePhase(header);
    $("groups-list").onclick = (e) => {
      const button = (e.target as HTMLElement).closest<HTMLElement>("[data-group]");
      if (button) this.choose(header.groups[Number(button.dataset.group)]!.ranks, []);
    };
    $("groups-strips").onclick = (e) => {
      const button = (e.target as HTMLElement).closest<HTMLElement>("[data-unfold]");
      if (!button) return;
      const group = Number(button.dataset.unfold);
      if (!this.unfolded.delete(group)) this.unfolded.add(group);
      this.show();
      $("groups-strips").querySelector<HTMLElement>(`[data-unfold="${group}"]`)!.focus();
    };
    if (header.skew)
      this.skew = new SkewPicture(
        $("groups-skew"),
        header,
        header.skew,
        () => this.range(header),
        (text, byKeys) => this.tell(text, byKeys),
      );
    store.on(["zoom", "theme", "phase"], () => this.redraw());
    store.on(["phase"], () => this.namePhase(header));
    this.loaded = Promise.all([Groups.read(header), this.skew?.loaded]).then(([groups]) => {
      this.groups = groups;
      const used = groups.statesThere();
      $("groups-legend").innerHTML = header.states
        .map((state, s) => `<li><i class="swatch" style="background:${css(this.color(s))}"></i>${escaped(state.letter)} ${escaped(state.name)}</li>`)
        .filter((_, s) => used.has(s))
        .join("");
      this.show();
    });
  }

  private get pictures(): Picture[] {
    return [...this.strips.map((strip) => strip.picture), ...(this.skew ? [this.skew.picture] : [])];
  }
  redraw(): void {
    for (const picture of this.pictures) picture.redraw();
  }
  /** At once: what is under the pointer depends on the size of a picture. */
  paint(): void {
    for (const picture of this.pictures) picture.paint();
  }

  kept(): KeptGroups {
    const { groups } = this.data.header,
      nameOf = (group: number): string => groups!.groups[group]!.name,
      focused = document.activeElement as HTMLElement | null,
      strip = this.strips.find((one) => one.picture.canvas === focused),
      part = focused?.dataset.group ? "group" : focused?.dataset.unfold ? "unfold" : null;
    return {
      fold: this.select.value,
      unfolded: [...this.unfolded].map(nameOf),
      focus: strip
        ? { name: nameOf(strip.line.group), part: "strip", rank: strip.line.rank, reading: strip.reading }
        : part
          ? { name: nameOf(Number(focused!.dataset[part])), part, rank: -1, reading: null }
          : null,
    };
  }
  restore({ fold, unfolded, focus }: KeptGroups): void {
    if (!this.groups) return;
    if (fold) this.select.value = fold;
    this.groups.header.groups.forEach((one, group) => {
      if (unfolded.includes(one.name) && one.rows.length > 0) this.unfolded.add(group);
    });
    this.show();
    if (!focus) return;
    const group = this.groups.header.groups.findIndex(({ name }) => name === focus.name),
      strip = this.strips.findIndex(({ line }) => line.group === group && line.rank === focus.rank);
    if (focus.part !== "strip") document.querySelector<HTMLElement>(`[data-${focus.part}="${group}"]`)?.focus({ preventScroll: true });
    else if (strip >= 0) {
      this.focus(strip);
      this.strips[strip]!.readAt(focus.reading);
    }
  }

  private focus(strip: number): void {
    this.strips.forEach(({ picture }, i) => (picture.canvas.tabIndex = i === strip ? 0 : -1));
    this.strips[strip]!.picture.canvas.focus({ preventScroll: true });
  }

  /** What is under the pointer, or what keys read. */
  private tell(text: string | null, byKeys: boolean): void {
    $("groups-readout").ariaLive = byKeys ? "polite" : "off";
    $("groups-readout").textContent = text ?? hint;
  }

  /** Where the strips do not lie under the graph's iterations. */
  private namePhase({ phase }: GroupsHeader): void {
    const { phase: shown } = this.store.state;
    $("groups-phase").textContent =
      shown === phase || shown < 0
        ? `iterations of ${this.data.phaseName(phase)}:`
        : `iterations of ${this.data.phaseName(phase)}, all of them; the graph above shows ${this.data.phaseName(shown)}:`;
  }

  private color(state: number): [number, number, number] {
    return clusterColors[state % 16]!;
  }

  /** The iterations that are shown: those of the graph above, if it is of the same phase. */
  private range(header: GroupsHeader): Span {
    const { phase, zoom } = this.store.state;
    return phase === header.phase ? [zoom[0], zoom[1]] : [0, header.iterations];
  }

  private choose(ranks: number[], iterations: Span[]): void {
    const { phase } = this.data.header.groups!;
    this.store.set({ a: scatteredSelection(phase, iterations, spansOfFlat(ranks), this.data.header.phases[phase]!.iterations ?? 0) });
  }

  private lines(groups: Groups): Line[] {
    const fold = this.select.value as Fold;
    return groups.header.groups.flatMap((one, group) => [
      { group, rank: -1, strip: groups.folded(group, fold) },
      ...(this.unfolded.has(group) ? one.rows.map((rank, n) => ({ group, rank, strip: groups.row(group, n) })) : []),
    ]);
  }

  show(): void {
    const { groups } = this;
    if (!groups) return;
    const { header } = groups,
      lines = this.lines(groups);
    $("groups-strips").innerHTML = lines
      .map(({ group, rank }) => {
        const one = header.groups[group]!,
          open = this.unfolded.has(group);
        if (rank >= 0) return `<div class="strip-line rank"><span style="width:${left}px">rank ${rank}</span><div></div></div>`;
        const name = one.rows.length
          ? `<button data-unfold="${group}" aria-expanded="${open}" title="${plural(one.count, "rank")}">${open ? "▾" : "▸"} ${escaped(one.name)}</button>`
          : escaped(one.name);
        return `<div class="strip-line"><span style="width:${left}px">${name}</span><div></div></div>`;
      })
      .join("");
    const owner: StripOwner = {
      header,
      color: (state) => this.color(state),
      range: () => this.range(header),
      read: (line, span, byKeys) => this.tell(span && this.describe(line, span), byKeys),
      choose: (line, { from, to }) => this.choose(line.rank < 0 ? header.groups[line.group]!.ranks : [line.rank, line.rank + 1], [[from, to]]),
      leave: (strip, by) => {
        const next = this.strips.indexOf(strip) + by,
          { reading } = strip;
        if (!this.strips[next]) return;
        this.focus(next);
        this.strips[next].readAt(reading);
      },
    };
    this.strips = [...$("groups-strips").querySelectorAll<HTMLElement>(".strip-line > div")].map((host, i) => {
      host.style.marginRight = right + "px";
      return new GroupStrip(host, this.name(lines[i]!), lines[i]!, owner);
    });
    this.strips[0]!.picture.canvas.tabIndex = 0;
    const hidden = [...this.unfolded].map((g) => header.groups[g]!).filter((one) => one.rows.length < one.count);
    $("groups-hidden").textContent = hidden.map((one) => `${one.name}: ${plural(one.count - one.rows.length, "more rank")}, in the value map above`).join("; ");
  }

  private name({ group, rank }: Line): string {
    const { groups } = this.data.header.groups!;
    return rank >= 0 ? `rank ${rank}` : group === 0 ? "all ranks" : `group ${groups[group]!.name}`;
  }

  describe(line: Line, span: GroupSpan): string {
    const header = this.data.header.groups!,
      where = span.to - span.from === 1 ? `iteration ${span.to}` : `iterations ${span.from + 1}–${span.to}`,
      what = span.state < 0 ? (this.select.value === "outliers" && line.rank < 0 ? "all in the same state" : "none") : header.states[span.state]!.name,
      count = header.groups[line.group]!.count;
    return `${this.name(line)}, ${where}: ${what}${line.rank < 0 && span.state >= 0 ? `, ${span.ranks} of ${plural(count, "rank")} at most` : ""}`;
  }

  /** What is shown, for a file. */
  picture(): GroupsPicture {
    return new GroupsPicture(
      this.strips,
      this.skew,
      this.data.header.groups!.states,
      this.groups!.statesThere(),
      $("groups-strips").clientWidth,
      ({ line }) => this.name(line),
      (state) => this.color(state),
    );
  }
}
