// All strips of the groups in one picture, for a file: their names, how far ranks run apart, and what the letters mean.
import { css, themeColor } from "../color";
import type { GroupsHeader } from "../header";
import { Shifted } from "../shifted";
import { pngOf, svgOf, type Surface } from "../surface";
import { left } from "../timeline/axes";
import type { GroupStrip } from "./group_strip";
import type { SkewPicture } from "./skew";

const gap = 2,
  legendHeight = 20;

export class GroupsPicture {
  constructor(
    private strips: GroupStrip[],
    private skew: SkewPicture | null,
    private states: GroupsHeader["states"],
    private used: Set<number>, // states
    private width: number,
    private name: (strip: GroupStrip) => string,
    private color: (state: number) => [number, number, number],
  ) {}

  svg(): string {
    return svgOf(this.width, this.height(), (surface) => this.draw(surface));
  }
  png(): Promise<Blob> {
    return pngOf(this.width, this.height(), (surface) => this.draw(surface));
  }

  private height(): number {
    return this.strips.reduce((sum, { picture }) => sum + picture.height + gap, 0) + (this.skew?.picture.height ?? 0) + legendHeight;
  }

  private draw(surface: Surface): void {
    let y = 0,
      x = left;
    for (const strip of this.strips) {
      const { width, height } = strip.picture;
      surface.text(this.name(strip), left - 6, y + height / 2, themeColor("dim"), "right");
      strip.draw(new Shifted(surface, left, y), width, height);
      y += height + gap;
    }
    if (this.skew) {
      const { width, height } = this.skew.picture;
      this.skew.draw(new Shifted(surface, 0, y), width, height);
      y += height;
    }
    this.states.forEach(({ letter, name }, s) => {
      if (!this.used.has(s)) return;
      surface.rect(x, y + 6, 9, 9, css(this.color(s)));
      surface.text(`${letter} ${name}`, x + 13, y + 11, themeColor("dim"));
      x += 30 + 7 * name.length;
    });
  }
}
