// The page's words. The sentences of the first screen are those of `libprofile report` and are part of the page's data. Sentences about a
// selection are made here from numbers that the report also has.
import type { Data } from "./data";
import { duration, escaped, percent, quantity, within } from "./format";
import type { Metric } from "./header";

export interface Card {
  title: string;
  html: string;
}

/** Adds a capital, except to names such as profile.lprof, and a full stop. */
export function sentence(text: string): string {
  return (/^[a-z]+[\s,;:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text) + (/[.!?]$/.test(text) ? "" : ".");
}

/** HTML of a sentence. Numbers keep their units and stand out, long C++ names may break, calls that users can write look like code. */
export function dressed(text: string): string {
  return escaped(text)
    .replace(/([+−-]?\d[\d.,]*(?:[mh]\d\d[sm])?) (%|ns|µs|ms|s|B|[KMGT]iB)(?=[\s,;:.)]|$)/g, "<b>$1\u202f$2</b>")
    .replace(/\b(?:MPI_Pcontrol|profile_iteration_\w+)\([^)]*\)/g, "<code>$&</code>")
    .replaceAll("::", "::<wbr>");
}

const paragraphs = (list: string[]): string => list.map((text) => `<p>${dressed(sentence(text))}</p>`).join("");

function whereTheTimeGoes(data: Data): string {
  const { parts, hottest, nameless: unresolved } = data.header.answers;
  const bar = parts
    .filter((p) => p.share >= 0.01)
    .map((p, i) => `<i class="share-${Math.min(i, 5)}" style="width:${(100 * p.share).toFixed(2)}%" title="${escaped(p.name)} ${escaped(p.text)}"></i>`)
    .join("");
  const rows = parts
    .filter((p) => p.share >= 0.0005)
    .slice(0, 6)
    .map(
      (p, i) =>
        `<tr><td><i class="swatch share-${Math.min(i, 5)}"></i>${escaped(p.name)}</td><td><b>${escaped(p.text)}</b></td><td class="dim">${escaped(p.range)}</td></tr>`,
    )
    .join("");
  const list = hottest.map((h) => `<li><span>${escaped(h.text)}</span> <b>${escaped(h.function).replaceAll("::", "::<wbr>")}</b></li>`).join("");
  const several = parts.some((p) => p.range !== "");
  return (
    `<div class="shares" role="img" aria-label="${escaped(
      parts
        .slice(0, 6)
        .map((p) => `${p.name} ${p.text}`)
        .join(", "),
    )}">${bar}</div>` +
    `<table class="parts"${several ? ` title="Mean over ranks; lowest and highest rank"` : ""}>${rows}</table>` +
    (list ? `<p>Most in</p><ul class="hottest">${list}</ul>` : "") +
    unresolved.map((text) => `<p class="dim">${dressed(sentence(text))}</p>`).join("")
  );
}

/** The findings of the first screen. Those about changes over time are about the phase that is shown. */
export function cards(data: Data, phase: number): Card[] {
  return data.header.answers.list.map((finding) => {
    // The table and the list replace the first two sentences.
    if (finding.key === "time")
      return {
        title: finding.question,
        html: whereTheTimeGoes(data) + paragraphs(finding.sentences.filter((text, i) => i > 0 && !text.startsWith("most in: "))),
      };
    const own = finding.key === "change" && phase >= 0 ? data.header.phases[phase]!.change : undefined;
    const isIn = own?.every((text) => finding.sentences.includes(text));
    return { title: finding.question, html: paragraphs(own && !isIn ? own : finding.sentences) };
  });
}

/** What is missing or was lost, in the words of the text report. Lost samples are part of what libprofile cost. */
export function shortcomings(data: Data): { missing: string[]; losses: string[]; remarks: string[] } {
  const of = (group: string): string[] => data.header.job.losses.filter((l) => l.group === group && l.kind !== "samples_lost").map((l) => sentence(l.sentence));
  const missing = of("missing");
  if (!data.header.job.complete && missing.length === 0) missing.push("Some data are missing or damaged.");
  return { missing, losses: of("loss"), remarks: of("remark") };
}

// ---- sentences about a selection

/** What was measured in the selected iterations, as in `report --iterations`, next to the estimate of the trees.
 *  @param truth sum of exact values over the ranks and iterations of the selection */
export function measuredSentence(metric: Metric, truth: number, estimate: number): string {
  const what = metric.name === "time" ? "time" : within(metric.label);
  const off = truth === 0 ? "" : percent(Math.abs(estimate / truth - 1)) + (estimate >= truth ? " above" : " below");
  return `Measured ${what} of these iterations: ${quantity(truth, metric.unit)} exactly; the estimate is ${off || quantity(estimate, metric.unit)}.`;
}

/** How far the MPI call paths may be off together: the sum of the bounds that the report prints after "+-". */
export function boundSentence(metric: Metric, bound: number): string {
  return bound > 0 ? `MPI call paths: ±${quantity(bound, metric.unit)} in all (stored error bound).` : "MPI call paths are exact.";
}

/** How much of the selection is in call paths whose values are not stored by iteration. */
export function estimatedSentence(share: number): string {
  return `${percent(share)} of it is an estimate: it is distributed as in the mean of the cluster.`;
}

/** What divided computing time among functions. */
export function samplingSentence(): string {
  return "Samples divide computing time among functions: ± is the 95 % interval.";
}

/** What a comparison shows in place of a difference. */
export function chanceSentence(): string {
  return "In brackets: a difference within its error (95 %), which may be chance.";
}

/** What is unknown in iterations whose inner phases the profile does not have. */
export function untoldSentence(ofWhich: string): string {
  return `Part of the time${ofWhich} is in inner phases for which this profile has no data by iteration. It has no call path, and its share in call paths and metrics is not known.`;
}

/** How much a mean of clusters varies, judged by the times of iterations. */
export function standardErrorSentence(ns: number): string {
  return `Standard error of the selected time: ±${duration(ns)}.`;
}
