// What lies over the pixels of tasks: lines from creations to first stretches, and the selected task.
import { themeColor } from "../color";
import type { Surface } from "../surface";
import { left } from "../timeline/axes";
import { lastBefore, type Events } from "./rows";
import { bottom, mostRows, type EventTimeline } from "./view";

const mostLines = 200; // more hide what lies below

export function drawTasks(t: EventTimeline, s: Surface, { tasks, rows }: Events): void {
  const dim = themeColor("dim"),
    found = t.store.state.eventSpan ? createdInView(t) : [],
    chosen = t.selectedTask();
  if (found.length > mostLines) {
    const y = t.picture.height - bottom - t.below - 50;
    s.text("creations:", left + t.width + 6, y, dim, "left", 10);
    s.text("zoom in", left + t.width + 6, y + 13, dim, "left", 10);
  } else for (const task of found) drawCreation(t, s, task, dim, 0.6);
  if (chosen < 0) return;
  const ink = themeColor("a");
  drawCreation(t, s, chosen, ink, 1.6);
  const clip = (x: number): number => Math.min(left + t.width, Math.max(left, x));
  for (let [i, end] = tasks.runs(chosen); i < end; ++i) {
    const r = tasks.runRow[i]!,
      row = rows[r]!,
      x0 = clip(t.xOf(row.place(row.calls.begin[tasks.runCall[i]!]!))),
      x1 = clip(t.xOf(row.place(row.calls.end[tasks.runCall[i]!]!)));
    if (isShown(t, r) && x1 > left && x0 < left + t.width)
      s.rect(x0 - 1, t.middleOf(r) - t.rowHeight / 2, Math.max(3, x1 - x0 + 2), t.rowHeight - 1, "none", ink);
  }
}

const isShown = (t: EventTimeline, row: number): boolean => row >= t.firstRow && row < t.firstRow + mostRows;

/** Of the selection, those that pass the filter; a few more than can be drawn if there are so many. */
function createdInView(t: EventTimeline): number[] {
  const { tasks, rows } = t.events!,
    [t0, t1] = t.store.state.moment,
    spans = t.selected(),
    { passing } = t.pieces!,
    found: number[] = [];
  for (let r = t.firstRow; r < Math.min(rows.length, t.firstRow + mostRows); ++r) {
    const span = spans[r],
      row = rows[r]!;
    if (!span) continue;
    const [first, end] = tasks.ofRow(r),
      created = tasks.created.subarray(first, end),
      last = Math.min(row.own(t1), span[1]);
    for (let i = lastBefore(created, Math.max(row.own(t0), span[0]) - 1) + 1; i < created.length && created[i]! <= last; ++i) {
      const [run, runEnd] = tasks.runs(first + i);
      if (run === runEnd || !passing.of(tasks.runRow[run]!, tasks.runCall[run]!)) continue;
      found.push(first + i);
      if (found.length > mostLines) return found;
    }
  }
  return found;
}

function drawCreation(t: EventTimeline, s: Surface, task: number, color: string, width: number): void {
  const { tasks, rows } = t.events!,
    [run, end] = tasks.runs(task),
    from = tasks.row[task]!;
  if (run === end || !isShown(t, from) || !isShown(t, tasks.runRow[run]!)) return;
  const to = tasks.runRow[run]!;
  let [x0, x1] = [t.xOf(rows[from]!.place(tasks.created[task]!)), t.xOf(rows[to]!.place(rows[to]!.calls.begin[tasks.runCall[run]!]!))],
    [y0, y1] = [t.middleOf(from), t.middleOf(to)];
  const right = left + t.width;
  if (x1 < left || x0 > right) return;
  const slope = x1 === x0 ? 0 : (y1 - y0) / (x1 - x0);
  if (x0 < left) [x0, y0] = [left, y0 + (left - x0) * slope];
  else s.rect(x0 - 1.5, y0 - 1.5, 3, 3, color);
  if (x1 > right) [x1, y1] = [right, y1 - (x1 - right) * slope];
  s.line([x0, y0, x1, y1], color, width);
}
