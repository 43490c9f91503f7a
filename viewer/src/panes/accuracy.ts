// The sentences that say how good the numbers of the trees are.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import type { SelectionProfile } from "../profile";
import { isRange, isScattered, iterationSpans, rankSpans } from "../selection";
import { boundSentence, chanceSentence, estimatedSentence, samplingSentence, measuredSentence, standardErrorSentence, untoldSentence } from "../words";

export async function showAccuracy(data: Data, comparison: Comparison): Promise<void> {
  const { a, b, failure } = comparison,
    text = $("accuracy"),
    exact = a.exact && (!b || b.exact);
  text.classList.toggle("estimate", !exact);
  const sentences = a.known
    ? knownSentences(data, a)
    : exact
      ? [data.header.tool ? "Sums of the values in the profile." : "Exact: sums of stored integers."]
      : await estimateSentences(data, a, failure);
  if (comparison.a !== a) return; // something else was selected meanwhile
  if (!a.sampled.isEmpty()) sentences.push(samplingSentence());
  if (data.header.phases[a.selection.phase]?.inside) sentences.push("Inner phases are included.");
  if (a.untold() > 0) sentences.push(untoldSentence(b ? " of A" : ""));
  if (b && b.untold() > 0) sentences.push(untoldSentence(" of B"));
  if (b) {
    const [iterationsA, iterationsB] = [a, b].map((p) => p.selection.phase >= 0);
    const other = iterationsA === iterationsB ? "" : ` (B: ${iterationsB ? "also per iteration" : "of the whole run"})`;
    if (!a.sampled.isEmpty() || !b.sampled.isEmpty()) sentences.push(chanceSentence());
    sentences.push(`Compared: means per rank${iterationsA ? " and iteration" : ""}${other}.`);
  }
  text.textContent = sentences.join(" ");
  text.title = "Colours of the map have up to 255 steps. Numbers in the trees are not rounded to them.";
}

function knownSentences(data: Data, a: SelectionProfile): string[] {
  const sum = a.inclusive[0]!,
    bound = a.exclusiveError.reduce((all, error) => (error === Infinity ? all : all + error), 0);
  const sentences = [`Read from what the profile has of these iterations${a.inclusiveError[0] === 0 ? "; sums are exact" : ""}.`];
  if (bound > 0 || a.estimated < sum) sentences.push(boundSentence(data.header.metrics[a.parts.row]!, bound));
  if (a.estimated > 0) sentences.push(estimatedSentence(sum === 0 ? 0 : a.estimated / sum));
  return sentences;
}

async function estimateSentences(data: Data, a: SelectionProfile, failure: string): Promise<string[]> {
  const { header } = data,
    metric = header.metrics[a.parts.row]!;
  const sentences = ["Estimate: a cluster's mean stands for each of its iterations."];
  if (failure) sentences.push(`More exact numbers are not available: ${failure}.`);
  else if (header.served && isScattered(a.selection)) sentences.push("The server reads single ranges only: select one for exact sums.");
  else if (header.served) sentences.push("Reading the iterations themselves …");
  else if (Object.keys(header.phases[a.selection.phase]?.accuracy ?? {}).length)
    sentences.push("The profile knows more about these iterations: libprofile view --serve shows it.");
  if (a.error > 0) sentences.push(standardErrorSentence(a.error));
  const truth = await measured(data, a);
  if (truth === null) return sentences;
  let estimate = 0;
  for (const l of data.mainOfRank) if (l >= 0) estimate += a.inclusiveBy[l * data.nodes]!;
  return [...sentences, measuredSentence(metric, truth, estimate)];
}

/** The metric, summed over the selected iterations and ranks. Returns null if the page does not have it for each of them. */
async function measured(data: Data, { selection: s, parts }: SelectionProfile): Promise<number | null> {
  const map = isRange(data, s) && !s.rest ? data.map(s.phase, data.header.metrics[parts.row]!.name) : undefined;
  if (!map?.exact || !map.told) return null;
  let truth = 0;
  if (s.ranks === null) {
    const { sum } = await data.spread(s.phase, map);
    for (const [from, to] of iterationSpans(s)) for (let i = from; i < to; ++i) truth += sum[i]!;
    return truth;
  }
  const values = await data.values(s.phase, map),
    n = data.header.phases[s.phase]!.iterations!;
  if (!values) return null;
  for (const [first, end] of rankSpans(s)!)
    for (let r = first; r < end; ++r) for (const [from, to] of iterationSpans(s)) for (let i = from; i < to; ++i) truth += Math.max(0, values[r * n + i]! - 1);
  return truth;
}
