// The page's words. The first screen's sentences are those of `libprofile report`: the profile brings them along. What is said of a
// selection is said here, one function for each kind of sentence, from numbers that the report has, too.
import type { Data } from "./data";
import { duration, escaped, percent, quantity, within } from "./format";
import type { Metric } from "./header";

export interface Card {
  title: string;
  html: string;
}

/** Begins in upper case, but for names such as profile.lprof, and ends with a full stop. */
export function sentence(text: string): string {
  return (/^[a-z]+[\s,;:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text) + (/[.!?]$/.test(text) ? "" : ".");
}

/** HTML of a sentence: numbers keep their units and stand out, long C++ names may break, calls to write look like code. */
export function dressed(text: string): string {
  return escaped(text)
    .replace(/([+−-]?\d[\d.,]*(?:[mh]\d\d[sm])?) (%|ns|µs|ms|s|B|[KMGT]iB)(?=[\s,;:.)]|$)/g, "<b>$1\u202f$2</b>")
    .replace(/\b(?:MPI_Pcontrol|profile_iteration_\w+)\([^)]*\)/g, "<code>$&</code>")
    .replaceAll("::", "::<wbr>");
}

const paragraphs = (list: string[]): string => list.map((text) => `<p>${dressed(sentence(text))}</p>`).join("");

function whereTheTimeGoes(data: Data): string {
  const { parts, hottest, nameless } = data.header.answers;
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
    nameless.map((text) => `<p class="dim">${dressed(sentence(text))}</p>`).join("")
  );
}

/** The answers of the first screen; of what changes over time that of the phase that is looked at. */
export function cards(data: Data, phase: number): Card[] {
  return data.header.answers.list.map((answer) => {
    // The table and the list say what the first two sentences do.
    if (answer.key === "time")
      return {
        title: answer.question,
        html: whereTheTimeGoes(data) + paragraphs(answer.sentences.filter((text, i) => i > 0 && !text.startsWith("most in: "))),
      };
    const own = answer.key === "change" && phase >= 0 ? data.header.phases[phase]!.change : undefined;
    const isIn = own?.every((text) => answer.sentences.includes(text));
    return { title: answer.question, html: paragraphs(own && !isIn ? own : answer.sentences) };
  });
}

/** What is missing or was lost, a sentence each, as the text report words it; the first list is about missing data. Samples that
 *  were lost are told with the cost of the tool. */
export function shortcomings(data: Data): { missing: string[]; losses: string[]; remarks: string[] } {
  const of = (group: string): string[] => data.header.job.losses.filter((l) => l.group === group && l.kind !== "samples_lost").map((l) => sentence(l.sentence));
  const missing = of("missing");
  if (!data.header.job.complete && missing.length === 0) missing.push("Some data are missing or damaged.");
  return { missing, losses: of("loss"), remarks: of("remark") };
}

// ---- what is said of a selection

/** What was measured of the iterations that are selected, as `report --iterations` has it, beside the estimate of the trees.
 *  @param truth sum over the selection's ranks and iterations of values that the profile has exactly */
export function measuredSentence(metric: Metric, truth: number, estimate: number): string {
  const what = metric.name === "time" ? "time" : within(metric.label);
  const off = truth === 0 ? "" : percent(Math.abs(estimate / truth - 1)) + (estimate >= truth ? " above" : " below");
  return `Measured ${what} of these iterations: ${quantity(truth, metric.unit)} exactly; the estimate is ${off || quantity(estimate, metric.unit)}.`;
}

/** How far the MPI call paths may be off together: the sum of the bounds that a call path's "+-" in the report is made of. */
export function boundSentence(metric: Metric, bound: number): string {
  return bound > 0 ? `MPI call paths: ±${quantity(bound, metric.unit)} in all, the stored error bound.` : "MPI call paths are exact.";
}

/** How much of the selection is in call paths that only samples know. */
export function sampledSentence(share: number): string {
  return `${percent(share)} of it, in sampled call paths, is distributed as in the mean of their cluster: an estimate.`;
}

/** What is not known of iterations of which the profile does not tell what lay inside. */
export function untoldSentence(ofWhich: string): string {
  return `Part of the time${ofWhich} is in phases inside, of which this profile tells nothing more by iteration: it has no call path, and what call paths and metrics have of it is not known.`;
}

/** How much a mean of clusters varies, as far as the times of iterations tell. */
export function standardErrorSentence(ns: number): string {
  return `Standard error of the selected time: ±${duration(ns)}.`;
}
