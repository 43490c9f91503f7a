// The first screen's answers in words, from exact numbers only: where the time goes, what changes over time, which ranks differ,
// what the tool cost, and what is missing.
import type { Data, Spread } from "./data";
import { digits, duration, escaped, grouped, percent, plural, ranges, shortName } from "./format";
import { SelectionProfile } from "./profile";

export interface Answer { title: string; html: string }

const strong = (text: string): string => `<b>${escaped(text)}</b>`;

function rowOf(data: Data, name: string): number { return data.header.metrics.findIndex((m) => m.name === name); }

/** Sums of time rows per main thread. */
function perRank(data: Data, whole: SelectionProfile): { rank: number; values: Map<string, number> }[] {
  const names = data.header.metrics.filter((m) => m.time);
  const rowsBelow = names.map((m) => {
    const top = rowOf(data, m.name), below = new Set([top]);
    data.header.metrics.forEach((x, i) => { if (below.has(x.parent)) below.add(i); });
    return below;
  });
  const out: { rank: number; values: Map<string, number> }[] = [];
  data.mainOfRank.forEach((l, rank) => {
    if (l < 0) return;
    const values = new Map<string, number>();
    names.forEach((m, k) => {
      let sum = 0;
      for (let n = 0; n < data.nodes; ++n) if (rowsBelow[k]!.has(data.header.nodes.row[n]!)) sum += whole.byLocation[l * data.nodes + n]!;
      values.set(m.name, sum);
    });
    out.push({ rank, values });
  });
  return out;
}

export const parts: [string, (v: Map<string, number>) => number][] = [
  ["computation", (v) => v.get("execution")! - v.get("mpi")! - v.get("off_cpu")!],
  ["MPI point-to-point", (v) => v.get("mpi_point_to_point_communication")!],
  ["MPI collectives", (v) => v.get("mpi_collective_communication")!],
  ["MPI synchronization", (v) => v.get("mpi_synchronization")!],
  ["MPI one-sided", (v) => v.get("mpi_one_sided_communication")!],
  ["MPI file I/O", (v) => v.get("mpi_file_io")!],
  ["MPI start and end", (v) => v.get("mpi_init_exit")!],
  ["other MPI", (v) => v.get("mpi")! - v.get("mpi_communication")! - v.get("mpi_synchronization")! - v.get("mpi_file_io")! - v.get("mpi_init_exit")!],
  ["waiting for a processor", (v) => v.get("off_cpu")!],
  ["not recorded", (v) => v.get("not_recorded")!],
  ["libprofile", (v) => v.get("measurement_overhead")!],
];

export function shares(data: Data, whole: SelectionProfile): { name: string; share: number; low: number; high: number }[] {
  const ranks = perRank(data, whole);
  return parts.map(([name, value]) => {
    const list = ranks.map((r) => { const t = r.values.get("time")!; return t === 0 ? 0 : value(r.values) / t; });
    return { name, share: list.reduce((a, b) => a + b, 0) / Math.max(1, list.length), low: Math.min(...list), high: Math.max(...list) };
  }).filter((p) => p.share >= 0.00005).sort((a, b) => b.share - a.share);
}

function whereTheTimeGoes(data: Data, whole: SelectionProfile): Answer {
  const list = shares(data, whole);
  const first = list.slice(0, 3).map((p, i) => `<i class="swatch share-${i}"></i>${strong(percent(p.share))} ${escaped(p.name)}`).join(", ");
  const h = data.header.nodes;
  // By function whatever its callers; MPI functions by who calls them.
  const spots = new Map<string, number>();
  const mains = data.mainOfRank.filter((l) => l >= 0);
  for (let n = 1; n < data.nodes; ++n) {
    if (["overhead", "off_cpu", "not_recorded"].includes(h.kind[n]!)) continue; // said above
    let time = 0;
    for (const l of mains) time += whole.byLocation[l * data.nodes + n]!;
    if (time === 0) continue;
    const name = h.kind[n] === "mpi" ? `${h.name[n]} in ${shortName(h.name[h.parent[n]!]!)}` : h.kind[n] === "not_sampled" ? "code that no sample hit" : shortName(h.name[n]!);
    spots.set(name, (spots.get(name) ?? 0) + time);
  }
  let total = 0;
  for (const l of mains) total += whole.inclusiveBy[l * data.nodes]!;
  // Programs without symbols: their functions are addresses, which help nobody.
  const nameless = new Map<string, number>();
  for (let n = 1; n < data.nodes; ++n) {
    const m = /^(.+)\+0x[0-9a-f]+$/.exec(h.name[n]!);
    if (m) for (const l of mains) nameless.set(m[1]!, (nameless.get(m[1]!) ?? 0) + whole.byLocation[l * data.nodes + n]!);
    // What the caller without a name waited for is its doing, too.
    const above = h.kind[n] === "mpi" ? /^(.+)\+0x[0-9a-f]+$/.exec(h.name[h.parent[n]!]!) : null;
    if (above) for (const l of mains) nameless.set(above[1]!, (nameless.get(above[1]!) ?? 0) + whole.byLocation[l * data.nodes + n]!);
  }
  const unknown = [...nameless].filter(([, t]) => t > 0.01 * total).sort((x, y) => y[1] - x[1]);
  const unnamed = unknown.reduce((sum, [, t]) => sum + t, 0) / Math.max(1, total);
  const why = unnamed < 0.05 ? "" : `<p class="dim">${percent(unnamed)} is in or called from functions without names, of ${unknown.slice(0, 3).map(([name]) => escaped(name)).join(", ")}: built without symbols. Install their debug symbols on this machine (Debian: packages ending in -dbgsym) and write the page again.</p>`;
  const bar = list.filter((p) => p.share >= 0.01).map((p, i) => `<i class="share-${Math.min(i, 5)}" style="width:${(100 * p.share).toFixed(2)}%" title="${escaped(p.name)} ${percent(p.share)}"></i>`).join("");
  const hottest = [...spots].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, t]) => `<li><span>${percent(t / total)}</span> <b>${escaped(name).replaceAll("::", "::<wbr>")}</b></li>`);
  return { title: "Where does the time go?", html: `<div class="shares" role="img" aria-label="${escaped(list.slice(0, 6).map((p) => `${p.name} ${percent(p.share)}`).join(", "))}">${bar}</div><p>${first} <span class="dim">(mean over ranks)</span>.</p><p>Most of it in</p><ul class="hottest">${hottest.join("")}</ul>${why}` };
}

function medianOf(list: number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted.length === 0 ? 0 : sorted.length % 2 ? sorted[sorted.length >> 1]! : (sorted[sorted.length / 2 - 1]! + sorted[sorted.length / 2]!) / 2;
}

function whatChanges(data: Data, phase: number, spread: Spread | null): Answer {
  const title = "What changes over time?";
  if (phase < 0 || !spread) return { title, html: "<p>The profile has no iterations. Mark the time loop (<code>profile_iteration_begin</code>, <code>MPI_Pcontrol</code>) to see it over time.</p>" };
  const n = spread.maximum.length, times = Array.from(spread.maximum);
  const typical = medianOf(times), tenth = Math.max(1, Math.floor(n / 10));
  const early = medianOf(times.slice(0, tenth)), late = medianOf(times.slice(n - tenth));
  const slow = times.map((t, i) => [t, i] as const).filter(([t]) => t > 1.5 * typical);
  const sentences: string[] = [];
  const change = early === 0 ? 0 : late / early - 1;
  if (n >= 20 && Math.abs(change) >= 0.05)
    sentences.push(`Iterations get ${strong(`${change > 0 ? "longer" : "shorter"}: ${duration(early)} → ${duration(late)}`)} (${change >= 2 ? `${digits(late / early, 2)} times as long` : (change > 0 ? "+" : "−") + percent(Math.abs(change))}, first to last tenth).`);
  else sentences.push(`${strong("No trend")}: iterations take about ${strong(duration(typical))} from start to end.`);
  if (slow.length > 0 && slow.length < n / 4) {
    const excess = slow.reduce((sum, [t]) => sum + t - typical, 0), all = times.reduce((a, b) => a + b, 0);
    const at = slow.map(([, i]) => i), steps = at.slice(1).map((v, i) => v - at[i]!);
    const every = medianOf(steps), regular = steps.length >= 3 && steps.filter((d) => Math.abs(d - every) <= Math.max(1, every * 0.05)).length >= 0.7 * steps.length && every > 1;
    sentences.push(`${strong(plural(slow.length, "iteration"))} take over 1.5 times the typical ${duration(typical)}${regular ? `, every ${grouped(every)}` : ""} (${ranges(at, 4)}); together ${percent(excess / all)} more time.`);
  }
  return { title, html: `<p>${sentences.join("</p><p>")}</p><p class="dim">${escaped(data.phaseName(phase))}: ${plural(n, "iteration")}, slowest rank of each.</p>` };
}

function whichRanks(data: Data, whole: SelectionProfile): Answer {
  const title = "Which ranks differ?";
  const list = perRank(data, whole);
  if (list.length < 2) return { title, html: "<p>There is one rank only.</p>" };
  const compute = list.map((r) => ({ rank: r.rank, value: parts[0]![1](r.values) }));
  const mean = compute.reduce((s, r) => s + r.value, 0) / compute.length;
  const sorted = [...compute].sort((a, b) => b.value - a.value), most = sorted[0]!, least = sorted[sorted.length - 1]!;
  const waiting = mean === 0 ? 0 : most.value / mean - 1;
  const total = list.reduce((s, r) => s + r.values.get("time")!, 0) / list.length;
  const middle = medianOf(compute.map((r) => r.value));
  const deviation = medianOf(compute.map((r) => Math.abs(r.value - middle))) * 1.4826;
  const odd = compute.filter((r) => Math.abs(r.value - middle) > Math.max(4 * deviation, 0.05 * middle));
  const sentences: string[] = [];
  if (waiting < 0.02) sentences.push(`${strong("Hardly any")}: the busiest rank (${most.rank}) computes ${percent(waiting)} longer than the mean.`);
  else sentences.push(`Rank ${strong(String(most.rank))} computes most: ${strong(duration(most.value))}, ${strong(percent(waiting))} over the mean; rank ${strong(String(least.rank))} least: ${duration(least.value)}.`);
  if (waiting >= 0.02 && total > 0) sentences.push(`With the work spread evenly the run could be about ${percent((most.value - mean) / total)} shorter.`);
  if (odd.length > 0 && odd.length <= list.length / 4) sentences.push(`Unlike the others: rank${odd.length === 1 ? "" : "s"} ${ranges(odd.map((r) => r.rank))}.`);
  return { title, html: `<p>${sentences.join("</p><p>")}</p>` };
}

function whatItCost(data: Data, whole: SelectionProfile): Answer {
  const job = data.header.job, list = perRank(data, whole);
  const share = list.reduce((s, r) => s + (r.values.get("time") ? r.values.get("measurement_overhead")! / r.values.get("time")! : 0), 0) / Math.max(1, list.length);
  const taken = job.samples_taken, lost = job.samples_lost;
  const sentences = [`${strong(percent(share))} of the time was libprofile's own.`];
  sentences.push(taken + lost === 0 ? "No samples were taken." : `${plural(taken, "sample")} (${job.rate} a second), ${strong(grouped(lost))} lost (${percent(lost / (taken + lost))}).`);
  if (taken + lost > 0 && taken < 1000 * Math.max(1, job.ranks) && taken < 1000) sentences.push(`<span class="dim">Few samples: shares of functions below about ${percent(Math.min(1, 10 / Math.max(taken, 10)))} are uncertain.</span>`);
  return { title: "What did the tool cost?", html: `<p>${sentences.join("</p><p>")}</p>` };
}

export function answers(data: Data, phase: number, spread: Spread | null): Answer[] {
  const whole = new SelectionProfile(data, { phase: -1, from: 0, to: 0, ranks: null }, 0, null);
  return [whereTheTimeGoes(data, whole), whatChanges(data, phase, spread), whichRanks(data, whole), whatItCost(data, whole)];
}

/** What is missing or was lost, a sentence each, as the text report words it; the first list is about missing data. Samples that
 *  were lost are told with the cost of the tool. */
export function shortcomings(data: Data): { missing: string[]; losses: string[]; remarks: string[] } {
  const of = (group: string): string[] => data.header.job.losses.filter((l) => l.group === group && l.kind !== "samples_lost").map((l) => sentence(l.sentence));
  const missing = of("missing");
  if (!data.header.job.complete && missing.length === 0) missing.push("Some data are missing or damaged.");
  return { missing, losses: of("loss"), remarks: of("remark") };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
