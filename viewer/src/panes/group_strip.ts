// The strip of a group or of a rank: what it does over the iterations. The pointer and the arrow keys read it; a click or Enter selects.
import { css, readableOn, themeColor } from "../color";
import { spanAt, statesOfPixels, type GroupSpan } from "../groups";
import type { GroupsHeader } from "../header";
import type { Span } from "../selection";
import { CanvasSurface, Picture, type Surface } from "../surface";

export interface Line {
  group: number;
  rank: number; // -1: the group, folded
  strip: GroupSpan[];
}

/** What strips have in common. */
export interface StripOwner {
  header: GroupsHeader;
  color(state: number): [number, number, number];
  range(): Span; // the iterations that are shown
  read(line: Line, span: GroupSpan | null, byKeys: boolean): void;
  choose(line: Line, span: GroupSpan): void;
  /** Reads the strip above (-1) or below (1). */
  leave(strip: GroupStrip, by: number): void;
}

const letterWidth = 10; // pixels that a part needs to have its letter

export class GroupStrip {
  readonly picture: Picture;
  /** The iteration that keys read; null: none. */
  reading: number | null = null;

  constructor(
    host: HTMLElement,
    label: string,
    readonly line: Line,
    private owner: StripOwner,
  ) {
    this.picture = new Picture(host, "group", (surface, width, height) => this.draw(surface, width, height));
    const { canvas } = this.picture;
    canvas.tabIndex = -1; // one strip of all is in the order of Tab
    canvas.setAttribute("aria-label", `${label} over the iterations. Left and right read it, up and down the other strips, Enter selects.`);
    canvas.onpointermove = (e) => owner.read(line, this.under(e), false);
    canvas.onpointerleave = () => owner.read(line, null, false);
    canvas.onclick = (e) => {
      const span = this.under(e);
      if (span) owner.choose(line, span);
    };
    canvas.onblur = () => this.readAt(null);
    canvas.onkeydown = (e) => this.press(e);
  }

  private under(e: MouseEvent): GroupSpan | null {
    const [from, to] = this.owner.range();
    return spanAt(this.line.strip, from + ((to - from) * e.offsetX) / Math.max(1, this.picture.width));
  }

  readAt(iteration: number | null): void {
    if (iteration === null && this.reading === null) return;
    const [from, to] = this.owner.range();
    this.reading = iteration === null ? null : Math.min(Math.ceil(to) - 1, Math.max(Math.floor(from), Math.floor(iteration)));
    this.owner.read(this.line, this.reading === null ? null : spanAt(this.line.strip, this.reading), true);
    this.picture.redraw();
  }

  /** Parts that are narrower than a pixel are not read one by one: the graph zooms. */
  private press(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const [from, to] = this.owner.range(),
      pixel = (to - from) / Math.max(1, this.picture.width),
      at = this.reading ?? from,
      span = spanAt(this.line.strip, at);
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.readAt(this.reading === null ? from : Math.max(span ? span.to : at + 1, Math.ceil(at + pixel))),
      ArrowLeft: () => this.readAt(this.reading === null ? to : Math.min(span ? span.from - 1 : at - 1, Math.floor(at - pixel))),
      Home: () => this.readAt(from),
      End: () => this.readAt(to),
      ArrowUp: () => this.owner.leave(this, -1),
      ArrowDown: () => this.owner.leave(this, 1),
      Enter: () => {
        if (this.reading !== null && span) this.owner.choose(this.line, span);
      },
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  }

  draw(surface: Surface, width: number, height: number): void {
    const { header } = this.owner,
      [from, to] = this.owner.range(),
      columns = Math.floor(width),
      pixels = statesOfPixels(this.line.strip, from, to, columns, header.states.length);
    surface.rect(0, 0, width, height, themeColor("card"));
    for (let x = 0, end = 0; x < columns; x = end) {
      for (end = x + 1; end < columns && pixels[end] === pixels[x];) ++end;
      const state = pixels[x]!;
      if (state < 0) continue;
      const color = this.owner.color(state);
      surface.rect(x, 0, end - x, height, css(color));
      if (end - x >= letterWidth) surface.text(header.states[state]!.letter, (x + end) / 2, height / 2 + 0.5, readableOn(color), "center");
    }
    const span = this.reading === null ? null : spanAt(this.line.strip, this.reading);
    if (!span || !(surface instanceof CanvasSurface)) return;
    const x0 = (Math.max(0, span.from - from) / (to - from)) * width,
      x1 = (Math.min(to - from, span.to - from) / (to - from)) * width;
    surface.rect(x0, 0, Math.max(4, x1 - x0), height, "none", themeColor("paper"));
    surface.rect(x0 + 1, 1, Math.max(4, x1 - x0) - 2, height - 2, "none", themeColor("ink"));
  }
}
