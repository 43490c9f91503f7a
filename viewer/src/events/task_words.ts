// What the timeline says of a task: in a line under the pointer, and in full of the one that is selected.
import type { Data } from "../data";
import { increaseWords, stretchesOf } from "./counters";
import { duration, escaped, grouped, plural } from "../format";
import type { Events } from "./rows";
import { Tasks } from "./tasks";
import { functionName, moment } from "./words";

const kinds = ["", "in", "out", "inout", "mutexinoutset", "inoutset"]; // format/events.hpp
const flagNames: [number, string][] = [
  [1, "undeferred"],
  [2, "final"],
  [4, "untied"],
  [8, "of a taskloop"],
];

export const typeWords = ({ function: name, source }: { function: string; source: string }): string => (source ? `${name} ${source}` : name);
export const typeName = (data: Data, type: number): string => typeWords(data.header.events!.types[type]!);
const address = (value: number): string => "0x" + value.toString(16);
const threadWords = (events: Events, row: number): string => `thread ${events.rows[row]!.thread}`;

function creatorWords({ tasks, rows }: Events, task: number): string {
  const creator = tasks.creator[task]!,
    thread = threadWords({ tasks, rows } as Events, tasks.row[task]!);
  if (creator === Tasks.implicit) return `${thread}, outside of tasks`;
  return `${creator === Tasks.unknown ? "a task that is not there" : `task ${grouped(tasks.number[creator]!)}`} on ${thread}`;
}

/** From the creation to the begin; empty without. */
function delayWords({ tasks, rows }: Events, task: number): string {
  const [run, end] = tasks.runs(task);
  if (run === end) return "";
  return duration(Math.max(0, rows[tasks.runRow[run]!]!.calls.begin[tasks.runCall[run]!]! - tasks.created[task]!));
}

const ownWords = ({ tasks }: Events, task: number): string => (isNaN(tasks.own[task]!) ? "not all of it was kept" : `own time ${duration(tasks.own[task]!)}`);

/** Of a stretch of a row, without its thread and path. */
export function stretchWords(data: Data, events: Events, row: number, call: number): string {
  const { tasks, rows } = events,
    { calls } = rows[row]!,
    task = calls.task[call - calls.runs]!,
    when = `${duration(calls.end[call]! - calls.begin[call]!)} from ${moment(rows[row]!.place(calls.begin[call]!))} on`;
  if (task < 0) return `a task${data.header.events!.indexed ? "" : " whose creation was not kept"}, ${when}`;
  const [first, end] = tasks.runs(task),
    at = Array.from({ length: end - first }, (_, i) => first + i).find((i) => tasks.runRow[i] === row && tasks.runCall[i] === call)!,
    words = [`task ${grouped(tasks.number[task]!)} ${typeName(data, tasks.type[task]!)}`, when];
  if (end - first > 1) words.push(`stretch ${at - first + 1} of ${end - first}`);
  words.push(ownWords(events, task), `created ${delayWords(events, task)} before by ${creatorWords(events, task)}`);
  if (tasks.places && tasks.firstDependence[task + 1]! > tasks.firstDependence[task]!) words.push(placeWords(events, task));
  const counted = increaseWords(events, [{ row, begin: calls.begin[call]!, end: calls.end[call]! }]);
  if (counted) words.push(counted);
  const needs = needsOf(events, task);
  if (needs.length > 0)
    words.push(
      needs
        .slice(0, 4)
        .map(([kind, at]) => `${kind} ${at}`)
        .join(", ") + (needs.length > 4 ? ` and ${needs.length - 4} more` : ""),
    );
  return words.join("; ");
}

const nodeWords = (node: number): string => (node < 0 ? "unknown" : String(node));
/** Where it ran, and how many of its accesses go to another node. */
function placeWords({ tasks }: Events, task: number): string {
  const places = tasks.places!,
    { local, remote, unknown } = places.accesses(tasks, task),
    node = places.ofTask[task]!,
    known = local + remote;
  return (
    `${node < 0 ? "NUMA node not known" : `on NUMA node ${node}`}` +
    `${known > 0 ? `; ${remote} of ${grouped(known)} accesses remote` : ""}${unknown > 0 ? `, ${unknown} not known` : ""}`
  );
}

/** Kind and address. */
const needsOf = ({ tasks }: Events, task: number): [string, string][] =>
  Array.from({ length: tasks.firstDependence[task + 1]! - tasks.firstDependence[task]! }, (_, i) => {
    const d = tasks.firstDependence[task]! + i;
    return [kinds[tasks.kinds[d]!] ?? "?", address(tasks.addresses[d]!)];
  });

/** The nearest task of the same creator and thread that names an address, before or after this one; -1: none. */
function neighbour({ tasks }: Events, task: number, at: number, step: 1 | -1): number {
  const creator = tasks.creator[task];
  for (let t = task + step; t >= 0 && t < tasks.count && tasks.row[t] === tasks.row[task]; t += step) {
    if (tasks.creator[t] !== creator) continue;
    for (let d = tasks.firstDependence[t]!; d < tasks.firstDependence[t + 1]!; ++d) if (tasks.addresses[d] === at) return t;
  }
  return -1;
}

const mostNeeds = 20,
  mostStretches = 20;

/** Of the selected one. Elements with data-task, data-node and data-run are buttons. */
export function taskHtml(data: Data, events: Events, task: number): string {
  const { tasks, rows } = events,
    { nodes } = data.header,
    [first, end] = tasks.runs(task),
    link = (t: number): string => (t < 0 ? "–" : `<button class="link" data-task="${t}">task ${grouped(tasks.number[t]!)}</button>`),
    source = (node: number, what: string): string =>
      ["frame", "inlined"].includes(nodes.kind[node]!)
        ? `<button class="link" data-node="${node}" title="${escaped(nodes.place[node] ?? "")}">${escaped(what)}</button>`
        : "";
  const ran = first < end ? rows[tasks.runRow[first]!]!.calls.node[tasks.runCall[first]!]! : 0,
    flags = flagNames.filter(([bit]) => (tasks.flags[task]! & bit) !== 0).map(([, name]) => name),
    creator = tasks.creator[task]!;
  const facts: [string, string][] = [
    ["type", escaped(typeName(data, tasks.type[task]!))],
    [
      "source",
      [source(ran, functionName(data, ran)), source(tasks.node[task]!, `created in ${functionName(data, tasks.node[task]!)}`)]
        .filter((text) => text)
        .join(" · ") || "no call path",
    ],
    ["own time", isNaN(tasks.own[task]!) ? "not known: not all of it was kept" : duration(tasks.own[task]!)],
    [
      "created",
      `${moment(rows[tasks.row[task]!]!.place(tasks.created[task]!))} by ${escaped(creatorWords(events, task))} ${creator >= 0 ? link(creator) : ""}`,
    ],
    [
      "begun",
      first < end ? `${delayWords(events, task)} later${tasks.isStolen(task) ? ", by another thread: stolen" : ""}` : "it did not run in what was kept",
    ],
  ];
  if (tasks.places) facts.push(["ran", placeWords(events, task)]);
  const counted = increaseWords(events, stretchesOf(events, task));
  if (counted) facts.push(["counters", `${escaped(counted)}, with what ran inside`]);
  if (flags.length > 0) facts.push(["kind", flags.join(", ")]);
  const needs = needsOf(events, task).slice(0, mostNeeds),
    all = tasks.firstDependence[task + 1]! - tasks.firstDependence[task]!;
  const needRows = needs.map(([kind, at], i) => {
    const value = tasks.addresses[tasks.firstDependence[task]! + i]!;
    const node = tasks.places ? `<td>${nodeWords(tasks.places.ofData[tasks.firstDependence[task]! + i]!)}</td>` : "";
    return `<tr><td>${kind}</td><td>${at}</td>${node}<td>${link(neighbour(events, task, value, -1))}</td><td>${link(neighbour(events, task, value, 1))}</td></tr>`;
  });
  const runRows = Array.from({ length: Math.min(end - first, mostStretches) }, (_, i) => {
    const row = rows[tasks.runRow[first + i]!]!,
      call = tasks.runCall[first + i]!;
    return (
      `<tr><td>${threadWords(events, tasks.runRow[first + i]!)}</td><td><button class="link" data-run="${first + i}">${moment(row.place(row.calls.begin[call]!))}</button></td>` +
      `<td>${duration(row.calls.end[call]! - row.calls.begin[call]!)}</td></tr>`
    );
  });
  const table = (head: string[], list: string[], count: number): string =>
    `<table class="parts"><tr>${head.map((text) => `<th>${text}</th>`).join("")}</tr>${list.join("")}</table>${count > list.length ? `<p>and ${grouped(count - list.length)} more</p>` : ""}`;
  return (
    `<div><p><b>Task ${grouped(tasks.number[task]!)}</b> of rank ${rows[tasks.row[task]!]!.rank} <button class="link" data-task="">×</button></p>` +
    `<table class="parts">${facts.map(([name, text]) => `<tr><td>${name}</td><td>${text}</td></tr>`).join("")}</table></div>` +
    `<div><p>${end - first === 1 ? "1 stretch" : `${grouped(end - first)} stretches`}</p>${table(["thread", "begin", "duration"], runRows, end - first)}</div>` +
    (all > 0
      ? `<div><p>${plural(all, "dependence")}</p>${table(["kind", "address", ...(tasks.places ? ["on node"] : []), "named before by", "next by"], needRows, all)}</div>`
      : "")
  );
}
