// Tables and histograms of how long tasks and calls take.
import { css } from "../color";
import { duration, escaped, grouped, percent, plural } from "../format";
import type { Rgb } from "./colors";
import { histogramOf, type Statistics } from "./statistics";

const mostRows = 12;

/** @param stolen of tasks: whether the table says how many of them were begun by another thread */
export function statisticsHtml(title: string, list: Statistics[], color: ((s: Statistics) => Rgb) | null, stolen: boolean, remark: string): string {
  if (list.length === 0) return "";
  const all = list.reduce((sum, one) => sum + one.count, 0),
    head = ["", "number", "total", "mean", "median", "least", "most", ...(stolen ? ["stolen"] : [])];
  const rows = list.slice(0, mostRows).map((one) => {
    const times = [one.total, one.mean, one.median, one.least, one.most].map((ns, i) => {
      const isAbout = i === 2 && one.error > 0;
      return `<td title="${grouped(ns)} ns${isAbout ? `, off by ${percent(one.error)} at most` : ""}">${isAbout ? "≈ " : ""}${duration(ns)}</td>`;
    });
    return (
      `<tr><td>${color ? `<i class="swatch" style="background:${css(color(one))}"></i>` : ""}${escaped(one.name)}</td><td>${grouped(one.count)}</td>` +
      `${times.join("")}${stolen ? `<td>${percent(one.stolen / one.count)}</td>` : ""}</tr>`
    );
  });
  return (
    `<div><p><b>${plural(all, title)}</b>${remark}${list.length > mostRows ? `; the ${mostRows} of ${list.length} kinds with most time` : ""}</p>` +
    `<table class="parts durations"><tr>${head.map((text) => `<th>${text}</th>`).join("")}</tr>${rows.join("")}</table>${histogramHtml(title, list)}</div>`
  );
}

/** How many take how long: equal steps for equal ratios. */
function histogramHtml(title: string, list: Statistics[]): string {
  const histogram = histogramOf(list.map((one) => one.bins));
  if (!histogram) return "";
  const { edges, counts } = histogram,
    most = Math.max(...counts),
    isShort = counts.length < 6,
    bar = isShort ? 46 : Math.max(4, Math.min(22, Math.floor(360 / counts.length))),
    height = 60,
    width = bar * counts.length,
    left = 30;
  const bars = counts.map((n, i) => {
    const h = n === 0 ? 0 : Math.max(1, (n / most) * height);
    return (
      `<g><title>${duration(edges[i]!)} to ${duration(edges[i + 1]!)}: ${plural(n, title)}</title>` +
      `<rect x="${left + i * bar}" y="0" width="${bar}" height="${height}" fill="transparent"/>` +
      `<rect class="bar" x="${left + i * bar + 0.5}" y="${height - h}" width="${bar - 1}" height="${h}"/></g>`
    );
  });
  const labels = edges.flatMap((ns, i) => {
    const isDecade = Math.abs(Math.log10(ns) - Math.round(Math.log10(ns))) < 1e-6,
      isEnd = isShort && (i === 0 || i === edges.length - 1);
    return isDecade || isEnd ? [`<text x="${left + i * bar}" y="${height + 12}" text-anchor="middle">${duration(ns)}</text>`] : [];
  });
  return (
    `<svg class="histogram" width="${width + 2 * left}" height="${height + 16}" role="img" aria-label="Histogram of durations: at most ${plural(most, title)} in a bin">` +
    `${bars.join("")}<line x1="${left}" x2="${left + width}" y1="${height}" y2="${height}"/>${labels.join("")}</svg>`
  );
}
