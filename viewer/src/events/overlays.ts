// What lies over the timeline and below its rows: curves.
import type { Surface } from "../surface";
import { CurveBar } from "./curve_bar";
import { drawCurve, intervalOf } from "./curves";
import { Tracks } from "./tracks";
import { top, type EventTimeline } from "./view";

const heading = 18,
  curveHeight = 58;

export class Overlays {
  readonly bar: CurveBar;
  tracks: Tracks | null = null;

  constructor(
    private readonly timeline: EventTimeline,
    host: HTMLElement,
  ) {
    timeline.overlays = this;
    this.bar = new CurveBar(host, timeline, () => this.layOut());
  }

  /** When the events are there. */
  load(): void {
    this.tracks = new Tracks(this.timeline.data, this.timeline.events!);
    this.bar.load(this.tracks);
  }

  /** Pixels below the axis of the rows. */
  get height(): number {
    return this.timeline.store.state.curves.isOver ? 0 : this.bar.curves.length * (heading + curveHeight);
  }

  private layOut(): void {
    const { picture } = this.timeline;
    picture.host.style.height = `${this.timeline.wantedHeight}px`;
    picture.redraw();
  }

  draw(s: Surface): void {
    const t = this.timeline,
      { curves, moment } = t.store.state,
      every = intervalOf((moment[1] - moment[0]) / Math.max(1, Math.floor(t.width)), curves.every),
      ih = t.rowHeight * t.shownRows.length,
      below = t.picture.height - this.height;
    this.bar.curves.forEach((curve, i) => {
      const band = curves.isOver ? { y: top, h: ih } : { y: below + i * (heading + curveHeight) + heading - 2, h: curveHeight };
      drawCurve(t, s, curve, i, band, every, curves.isOver);
    });
    this.bar.tell();
  }
}
