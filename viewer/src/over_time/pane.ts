// Several runs over time: the choice of one against the first, its picture and its segments.
import { $ } from "../dom";
import { plural } from "../format";
import { save } from "../surface";
import { dressed, sentence } from "../words";
import { Aligned } from "./aligned";
import { csvOf } from "./csv";
import { detailsHtml, headHtml } from "./details";
import type { GroupOverTime, OverTimeHeader } from "./header";
import { OverTimePicture } from "./picture";
import { describe } from "./words";

const longName = 20; // of a run: what is read then needs two lines

const hint = "Ctrl+wheel: zoom · drag: move · click: a segment · Shift ← →: one iteration after the other · ↑ ↓: segments";

// Names of runs begin some of them, so that they get no capital.
const remarksHtml = (list: string[]): string => list.map((text) => `<p class="dim">${dressed(text)}</p>`).join("");
const absent = (why: string): string => dressed(sentence(`Not compared over time: ${why}`));

// The address is a link to the run and segment that are chosen.
const link = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));
function setLink(parts: Record<string, string>): void {
  const all = link();
  for (const [name, value] of Object.entries(parts)) value ? all.set(name, value) : all.delete(name);
  history.replaceState(null, "", "#" + all);
}

export class OverTimePane {
  readonly picture: OverTimePicture | null = null;
  aligned: Aligned | null = null;
  private readonly select = $<HTMLSelectElement>("over-time-group");

  /** @param names of all groups, the first one first */
  constructor(
    private header: OverTimeHeader,
    private names: string[],
  ) {
    const hasPicture = header.groups.some(({ why }) => !why);
    $("over-time-head").innerHTML = header.why ? absent(header.why) : "";
    $("over-time-body").hidden = !hasPicture;
    $("over-time-tools").hidden = $("over-time-export").hidden = !hasPicture;
    $("over-time-group-label").hidden = header.groups.length < 2;
    if (header.why) return;
    for (const { group } of header.groups) this.select.add(new Option(names[group]!, String(group)));
    this.select.value = link().get("run") ?? "1";
    if (this.select.selectedIndex < 0) this.select.selectedIndex = 0;
    this.select.onchange = () => {
      setLink({ run: this.select.value, segment: "" });
      void this.show();
    };
    if (!hasPicture) return;
    $("over-time-readout").classList.toggle(
      "long",
      names.some((name) => name.length > longName),
    );
    const picture = (this.picture = new OverTimePicture($("over-time-picture")));
    picture.onRead = (point, byKeys) => {
      $("over-time-readout").ariaLive = byKeys ? "polite" : "off";
      $("over-time-readout").textContent = point === null ? hint : this.describe(point);
    };
    picture.onSelect = (segment) => this.choose(segment);
    $("over-time-in").onclick = () => picture.mover.zoom(0.5);
    $("over-time-out").onclick = () => picture.mover.zoom(2);
    $("over-time-all").onclick = () => picture.mover.all();
    $("over-time-svg").onclick = () => save("comparison-over-time.svg", picture.picture.svg(), "image/svg+xml");
    $("over-time-png").onclick = async () => save("comparison-over-time.png", await picture.picture.png());
    $("over-time-csv").onclick = () => save("comparison-over-time.csv", csvOf(this.aligned!, picture.names), "text/csv");
    $("over-time-segments").onclick = (e) => {
      const button = (e.target as HTMLElement).closest<HTMLElement>("[data-segment]");
      if (button) this.choose(Number(button.dataset.segment));
    };
  }

  /** The group that is chosen. */
  async show(): Promise<void> {
    if (this.header.why) return;
    const one = this.header.groups[this.select.selectedIndex]!;
    $("over-time-body").hidden = one.why !== "";
    if (one.why) {
      this.aligned = null;
      $("over-time-head").innerHTML = absent(one.why);
      return;
    }
    const shown = one as GroupOverTime,
      aligned = await Aligned.read(shown);
    if (this.header.groups[this.select.selectedIndex] !== one) return; // another one was chosen meanwhile
    this.aligned = aligned;
    const before = this.names[0]!;
    $("over-time-head").innerHTML = dressed(shown.head);
    $("over-time-segments").innerHTML = shown.segments
      .map(
        (segment, i) =>
          `<li><button aria-expanded="false" aria-controls="segment-${i}" data-segment="${i}">${headHtml(segment, i, before)}</button><div id="segment-${i}" hidden>${detailsHtml(segment)}</div></li>`,
      )
      .join("");
    $("over-time-notes").innerHTML = remarksHtml([
      ...shown.remarks,
      ...this.header.remarks,
      ...(shown.window > 1 ? [`a point of the curves is ${plural(shown.window, "place")} of the axis`] : []),
    ]);
    this.picture!.show(aligned, [before, this.names[one.group]!]);
    const segment = Number(link().get("segment") ?? 0) - 1;
    if (segment in shown.segments) this.choose(segment);
  }

  /** Chosen again, it is no longer. */
  choose(segment: number): void {
    const { picture } = this;
    if (!picture) return;
    picture.select(segment === picture.selected ? -1 : segment);
    setLink({ segment: picture.selected < 0 ? "" : String(picture.selected + 1) });
    document.querySelectorAll<HTMLElement>("#over-time-segments [data-segment]").forEach((button, i) => {
      button.setAttribute("aria-expanded", String(i === picture.selected));
      $(`segment-${i}`).hidden = i !== picture.selected;
    });
  }

  private describe(point: number): string {
    const { aligned, picture } = this;
    if (!aligned || !picture) return "";
    const part = aligned.part(point, point + 1);
    return describe(part, picture.names, aligned.segmentAt(part.from) + 1);
  }
}
