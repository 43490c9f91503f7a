// The strip of kinds: the cluster of every rank and iteration.
import { kindLetters, type Clusters } from "../clusters";
import { clusterColors, css, pixel, themeColor } from "../color";
import type { Data } from "../data";
import type { Surface } from "../surface";
import { left, type Axes } from "./axes";
import type { Images } from "./images";
import { rankTicks } from "./value_map";

const clusterPixels = clusterColors.map(pixel);

export function drawKinds(s: Surface, axes: Axes, images: Images, content: number, data: Data, clusters: Clusters): void {
  const band = axes.bands.strip,
    w = axes.width;
  const [z0, z1, z2, z3] = axes.zoom;
  const iw = Math.max(1, Math.floor(w)),
    ih = Math.max(1, Math.floor(band.h));
  const image = images.draw("strip", content, axes.zoom, iw, ih, (out, part) => {
    const iterationOf = new Int32Array(iw);
    for (let x = 0; x < iw; ++x) iterationOf[x] = Math.floor(z0 + ((z1 - z0) * (x + 0.5)) / iw);
    let before = -1;
    for (let y = part.top; y < part.bottom; ++y) {
      const rank = Math.floor(z2 + ((z3 - z2) * (y + 0.5)) / ih);
      if (rank === before) {
        out.copyWithin(y * iw + part.left, (y - 1) * iw + part.left, (y - 1) * iw + part.right);
        continue;
      }
      before = rank;
      const location = data.mainOfRank[rank] ?? -1;
      if (location < 0) continue;
      const own = clusters.of[location]!,
        members = own.members;
      for (let x = part.left; x < part.right; ++x) {
        const c = members[iterationOf[x]!];
        if (c === undefined) continue;
        const kind = c < own.count - 1 ? clusters.kinds[own.first + c]! : 0;
        out[y * iw + x] = clusterPixels[kind === 0 ? 17 : Math.min(kind - 1, 16)]!;
      }
    }
  });
  s.image(image, left, band.y, w, band.h);
  s.rect(left, band.y, w, band.h, "none", themeColor("frame"));
  rankTicks(s, axes, band);
  s.text("Kinds: iterations of the same colour do similar things, on all ranks", left, band.y - 8, themeColor("ink"), "left", 11.5);
  // Without enough room only some colours have their letters next to them.
  const x = left + w + 8,
    size = Math.min(11, band.h / 10);
  for (let i = 0; i < 8; ++i) {
    s.rect(x, band.y + i * size, 9, size - 1, css(clusterColors[i]!));
    s.rect(x + 11, band.y + i * size, 9, size - 1, css(clusterColors[i + 8]!));
    if (size > 8 || (i % 4 === 0 && size > 4))
      s.text(`${kindLetters(i)}, ${kindLetters(i + 8)}`, x + 24, band.y + (i + 0.5) * size, themeColor("dim"), "left", 9);
  }
  s.rect(x, band.y + 8 * size, 20, size - 1, css(clusterColors[16]!));
  s.text("more", x + 24, band.y + 8.5 * size, themeColor("dim"), "left", 9);
  s.rect(x, band.y + 9 * size, 20, size - 1, css(clusterColors[17]!));
  if (size > 8) s.text("none", x + 24, band.y + 9.5 * size, themeColor("dim"), "left", 9);
}
