// What the timeline says of a place, and as CSV.
import type { Data } from "../data";
import { csvText, duration, fixed, grouped, percent, plural, quantity, shortName } from "../format";
import type { Span } from "../selection";
import { increaseIn, increaseWords } from "./counters";
import { coloredTypes } from "./colors";
import { within, type EventRow, type Events } from "./rows";
import type { Passing } from "./filter";
import { stretchWords, typeName } from "./task_words";
import type { Places } from "./places";
import { laidOver, type Tasks } from "./tasks";

/** A time of the run, to the microsecond. */
export const moment = (ns: number): string => `${grouped(Math.floor(ns / 1e6))}.${fixed(Math.floor((ns % 1e6) / 1e3), 0).padStart(3, "0")}\u202fms`;

const reasons: [number, string][] = [
  [1, "its turn"],
  [2, "slow"],
  [4, "first of its kind"],
];

export const functionName = (data: Data, node: number): string => (node > 0 ? shortName(data.header.nodes.name[node]!) : "call without a call path");

/** From the outermost caller, the last ones of a long path. */
export function pathWords(data: Data, node: number): string {
  const names: string[] = [],
    { parent } = data.header.nodes;
  for (let at = node; at > 0; at = parent[at]!) names.unshift(functionName(data, at));
  return (names.length > 5 ? "… › " : "") + names.slice(-5).join(" › ");
}

function iterationWords(data: Data, row: EventRow, ns: number): string {
  const { parts, inners } = row,
    p = within(parts, ns);
  if (p < 0) return "";
  const phase = parts.phase[p]!;
  if (phase === -2) return "outside iterations";
  const why = reasons.filter(([bit]) => (parts.reasons[p]! & bit) !== 0).map(([, word]) => word);
  let text = `iteration ${parts.number[p]! + 1}${phase >= 0 ? ` of ${data.phaseName(phase)}` : ""}${why.length > 0 ? ` (kept: ${why.join(", ")})` : ""}`;
  const inner = inners.begin.findIndex((begin, i) => begin <= ns && ns < inners.end[i]!); // they end in order; the first one is the innermost
  if (inner >= 0 && inners.phase[inner]! >= 0) text += `, in it ${inners.number[inner]! + 1} of ${data.phaseName(inners.phase[inner]!)}`;
  return text;
}

function messageWords(events: Events, row: number, call: number): string {
  const list = events.messages.of(row, call);
  const words = Array.from(list.subarray(0, 3), (m) => {
    const message = events.messages.at(m),
      isSent = message.sender === row && message.sending === call,
      partner = isSent ? message.to : message.from,
      late = events.messages.received[m]! - events.messages.sent[m]!;
    const known = partner >= 0 ? ` rank ${partner}` : " an unknown rank";
    const what = `${isSent ? "sends" : "receives"} ${quantity(message.bytes, "bytes")} ${isSent ? "to" : "from"}${known}, tag ${message.tag}`;
    return what + (late >= 0 ? `, ${duration(late)} from begin to end` : "");
  });
  return words.length > 0 ? "; " + words.join("; ") + (list.length > 3 ? `; and ${list.length - 3} more` : "") : "";
}

/** The type of task that most of a pixel is in. */
function taskWords(data: Data, { pixels }: EventRow, ns: number): string {
  if (!pixels?.runs.taskClass) return "";
  const { runs, window, count } = pixels,
    x = ((ns - window[0]) / (window[1] - window[0])) * count,
    type = (runs.taskClass![runs.end.findIndex((end) => x < end)] ?? 0) - 1,
    { types } = data.header.events!;
  return type < 0 ? "" : type < Math.min(types.length, coloredTypes) ? `, task ${typeName(data, type)}` : ", tasks of other types";
}

/** What a row does at a time of the axis. */
export function describe(data: Data, events: Events, rowNumber: number, place: number): string {
  const row = events.rows[rowNumber]!,
    ns = row.own(place),
    { states: pieces, calls, stretches, regions } = row,
    names = data.header.events!.states,
    piece = pieces.at(ns),
    head = `rank ${row.rank}${row.thread > 0 ? `, thread ${row.thread}` : ""}, ${moment(place)}`;
  if (row.isMixed && piece >= 0 && pieces.what[piece]! < names.length) {
    const longest = pieces.longestCall(piece, piece + 1);
    return `${head}: mostly ${names[pieces.what[piece]!]!.name}${taskWords(data, row, ns)}${longest > 0 ? `; the longest call takes about ${duration(longest)}` : ""}; zoom in for single calls`;
  }
  if (piece < 0 || pieces.what[piece]! > names.length) return `${head}: no events were kept`;
  if (pieces.isSummed(piece)) {
    const s = pieces.owner[piece]!,
      count = stretches.count[s]!,
      first = stretches.first[s]! + 1,
      sums = Array.from(stretches.sums.slice(s * names.length, (s + 1) * names.length)),
      all = sums.reduce((a, b) => a + b, 0),
      shares = sums
        .map((sum, i) => [sum, names[i]!.name] as const)
        .filter(([sum]) => sum > 0)
        .sort((a, b) => b[0] - a[0])
        .slice(0, 4)
        .map(([sum, name]) => `${name} ${duration(sum)} (${percent(sum / all)})`);
    const which = count > 1 ? `iterations ${first}–${first + count - 1}` : `iteration ${first}`,
      of = `${data.phaseName(stretches.phase[s]!)}, of which sums are known${stretches.isExact[s] ? "" : ", ≈"}`;
    return `${head}: ${which} of ${of}: ${shares.join(", ")}`;
  }
  const iteration = iterationWords(data, row, ns),
    at = regions?.at(ns) ?? -1,
    region = at >= 0 && regions!.isCall(at) ? `, in region ${functionName(data, calls.node[regions!.owner[at]!]!)}` : "",
    where = `${head}${iteration ? `, ${iteration}` : ""}${region}`;
  if (!pieces.isCall(piece)) {
    const length = pieces.begins[piece + 1]! - pieces.begins[piece]!;
    return `${where}: ${names[0]!.name} for ${duration(length)} from ${moment(row.place(pieces.begins[piece]!))} on`;
  }
  const call = pieces.owner[piece]!,
    node = calls.node[call]!;
  if (call >= calls.runs) return `${where}: ${stretchWords(data, events, rowNumber, call)}${node > 0 ? ` · ${pathWords(data, node)}` : ""}`;
  const when = `${duration(calls.end[call]! - calls.begin[call]!)} from ${moment(row.place(calls.begin[call]!))} on`,
    path = node > 0 ? ` · ${pathWords(data, node)}` : "";
  const counted = increaseWords(events, [{ row: rowNumber, begin: calls.begin[call]!, end: calls.end[call]! }]);
  return (
    `${where}: ${functionName(data, node)}, ${when}${counted ? `; ${counted}` : ""}` +
    `${messageWords(events, rowNumber, call)}${events.collectives.words(rowNumber, call, row.rank)}${path}`
  );
}

function placeCells(tasks: Tasks, places: Places, task: number): (number | string)[] {
  if (task < 0) return ["", "", ""];
  const { local, remote } = places.accesses(tasks, task),
    node = places.ofTask[task]!;
  return [node < 0 ? "" : node, local, remote];
}

/** The calls, tasks and regions that lie in spans of rows, or overlap them, and pass. */
export function csvOf(data: Data, events: Events, spans: (Span | null)[], passing: Passing): string {
  const names = data.header.events!.states,
    { tasks } = events,
    counters = events.counters ?? [],
    lines = [
      "rank,thread,state,function,begin [ns],duration [ns],iteration,messages,bytes sent,bytes received,task,own time [ns]" +
        (tasks.places ? ",node,local accesses,remote accesses" : "") +
        counters.map(({ name, unit }) => "," + csvText(unit ? `${name} [${unit}]` : name)).join(""),
    ];
  events.rows.forEach((row, r) => {
    const span = spans[r],
      { calls, parts } = row;
    if (!span) return;
    for (const c of laidOver(calls, () => true)) {
      if (calls.begin[c]! >= span[1]) break;
      if ((calls.end[c]! <= span[0] && calls.begin[c]! < span[0]) || !passing.of(r, c)) continue;
      const p = within(parts, calls.begin[c]!),
        isRun = c >= calls.runs,
        task = isRun ? calls.task[c - calls.runs]! : -1,
        messages = isRun ? [] : Array.from(events.messages.of(r, c), (m) => events.messages.at(m)),
        sent = messages.filter((m) => m.sender === r && m.sending === c),
        bytes = (list: typeof messages): number => list.reduce((sum, m) => sum + m.bytes, 0);
      lines.push(
        [
          row.rank,
          row.thread,
          names[calls.state[c]!]?.key ?? "region",
          csvText(task >= 0 ? typeName(data, tasks.type[task]!) : functionName(data, calls.node[c]!)),
          calls.begin[c],
          calls.end[c]! - calls.begin[c]!,
          p >= 0 && parts.phase[p] !== -2 ? parts.number[p]! + 1 : "",
          messages.length,
          bytes(sent),
          bytes(messages) - bytes(sent),
          task >= 0 ? tasks.number[task] : "",
          task >= 0 && !isNaN(tasks.own[task]!) ? tasks.own[task] : "",
          ...(tasks.places ? placeCells(tasks, tasks.places, task) : []),
          ...counters.map((counter) => increaseIn(counter, [{ row: r, begin: calls.begin[c]!, end: calls.end[c]! }]) ?? ""),
        ].join(","),
      );
    }
  });
  return lines.join("\n") + "\n";
}

export const messagesWords = (count: number, bytes: number): string => `${plural(count, "message")}, ${quantity(bytes, "bytes")}`;
