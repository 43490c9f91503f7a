// What lies over the timeline and below its rows: curves, marks of the diagnosis, and annotations.
import { $ } from "../dom";
import { escaped } from "../format";
import type { Surface } from "../surface";
import { left } from "../timeline/axes";
import { dressed, sentence } from "../words";
import { AnnotationPane } from "./annotation_pane";
import { CauseMarks } from "./cause_marks";
import { CurveBar } from "./curve_bar";
import { drawCurve, intervalOf } from "./curves";
import { AskedTracks } from "./asked_tracks";
import { Tracks, type TrackSource } from "./tracks";
import { top, type EventTimeline } from "./view";

const heading = 18,
  curveHeight = 58;

export class Overlays {
  readonly bar: CurveBar;
  readonly causes: CauseMarks;
  readonly annotations: AnnotationPane;
  tracks: TrackSource | null = null;
  private asked: AskedTracks | null = null; // the same, of a trace that is larger than the page

  constructor(
    private readonly timeline: EventTimeline,
    host: HTMLElement,
  ) {
    timeline.overlays = this;
    this.causes = new CauseMarks(timeline);
    this.bar = new CurveBar(host, timeline, () => this.layOut());
    this.annotations = new AnnotationPane(host, timeline);
    timeline.store.on(["cause"], () => timeline.picture.redraw());
    this.listen();
  }

  /** When the events are there. */
  async load(): Promise<void> {
    const { data, events, asked } = this.timeline;
    if (asked)
      this.asked = new AskedTracks(data, asked.first, () => {
        for (const curve of this.bar.curves) curve.forget();
        this.timeline.picture.redraw();
      });
    this.bar.load((this.tracks = this.asked ?? new Tracks(data, events!)));
    await this.causes.load();
    await this.annotations.load();
  }

  private get curvesHeight(): number {
    return this.timeline.store.state.curves.isOver ? 0 : this.bar.curves.length * (heading + curveHeight);
  }
  /** Pixels below the axis of the rows. */
  get height(): number {
    return this.curvesHeight + this.causes.height;
  }
  /** Where the lanes of causes begin. */
  private get lanes(): number {
    return this.timeline.picture.height - this.causes.height + 4;
  }

  private layOut(): void {
    const { picture } = this.timeline;
    picture.host.style.height = `${this.timeline.wantedHeight}px`;
    picture.redraw();
  }

  draw(s: Surface): void {
    const t = this.timeline,
      { curves, moment } = t.store.state,
      every = intervalOf((moment[1] - moment[0]) / Math.max(1, Math.floor(t.width)), curves.every, !!this.asked),
      ih = t.rowHeight * t.shownRows.length,
      below = t.picture.height - this.height;
    this.causes.draw(s, this.lanes);
    if (this.bar.curves.length > 0)
      this.asked?.want(
        Math.floor(moment[0] / every),
        Math.ceil(moment[1] / every) + 1,
        every,
        this.bar.curves.flatMap(({ needed }) => needed),
      );
    this.bar.curves.forEach((curve, i) => {
      const band = curves.isOver ? { y: top, h: ih } : { y: below + i * (heading + curveHeight) + heading - 2, h: curveHeight };
      drawCurve(t, s, curve, i, band, every, curves.isOver, this.asked?.missing ?? "");
    });
    this.annotations.draw(s);
    this.bar.tell();
  }

  private listen(): void {
    const { picture, data } = this.timeline,
      { canvas } = picture,
      causeAt = (e: MouseEvent): number => (e.offsetX >= left - 60 && e.offsetY >= this.lanes ? this.causes.at(e.offsetY - this.lanes) : -1);
    canvas.addEventListener("click", (e) => {
      const cause = causeAt(e);
      if (cause >= 0) this.causes.choose(cause);
    });
    canvas.addEventListener("pointermove", (e) => {
      const cause = causeAt(e);
      canvas.style.cursor = cause >= 0 ? "pointer" : "";
      if (cause < 0) return;
      const { share, sentence: words } = data.header.causes.list[cause]!;
      $("events-readout").innerHTML = `<b>Cause ${cause + 1}</b> (${escaped(share)}): ${dressed(sentence(words))}`;
    });
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const actions: Record<string, () => void> = {
        c: () => this.bar.focus(),
        v: () => this.bar.toggle(),
        f: () => this.causes.step(1),
        F: () => this.causes.step(-1),
        m: () => this.annotations.mark(this.timeline.hover ?? this.timeline.reading),
        n: () => this.annotations.step(1),
        N: () => this.annotations.step(-1),
      };
      const action = actions[e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
  }
}
