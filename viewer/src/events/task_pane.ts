// The facts of the selected task, below the picture.
import { $ } from "../dom";
import { taskHtml } from "./task_words";
import type { EventTimeline } from "./view";

export function connectTask(timeline: EventTimeline, host: HTMLElement): void {
  const { store, data } = timeline;
  const show = (): void => {
    const task = timeline.events ? timeline.selectedTask() : -1;
    host.hidden = task < 0;
    host.innerHTML = task < 0 ? "" : taskHtml(data, timeline.events!, task);
  };
  store.on(["task"], show);
  timeline.onLoad.push(show);
  host.onclick = (e) => {
    const { task, node, run } = (e.target as HTMLElement).closest<HTMLElement>("[data-task], [data-node], [data-run]")?.dataset ?? {},
      { tasks, rows } = timeline.events!;
    if (task === "") store.set({ task: null });
    else if (task !== undefined) {
      const t = Number(task);
      store.set({ task: { rank: rows[tasks.row[t]!]!.rank, number: tasks.number[t]! } });
      if (tasks.firstRun[t]! < tasks.firstRun[t + 1]!) revealRun(timeline, tasks.firstRun[t]!);
    }
    if (run !== undefined) revealRun(timeline, Number(run));
    if (node !== undefined) {
      store.set({ node: Number(node), direction: "down" });
      $("source-section").scrollIntoView({ block: "start" });
    }
  };
}

function revealRun(timeline: EventTimeline, run: number): void {
  const { tasks } = timeline.events!;
  reveal(timeline, tasks.runRow[run]!, tasks.runCall[run]!);
}

/** Moves the picture if a call or stretch lies outside, or is too narrow to be seen. */
export function reveal(timeline: EventTimeline, r: number, call: number): void {
  const { store } = timeline,
    row = timeline.events!.rows[r]!,
    begin = row.place(row.calls.begin[call]!),
    end = row.place(row.calls.end[call]!),
    [t0, t1] = store.state.moment,
    width = (end - begin) * timeline.width < 2 * (t1 - t0) ? 40 * (end - begin) : Math.max(t1 - t0, 1.5 * (end - begin)),
    middle = (begin + end) / 2;
  timeline.showRow(r);
  if (begin < t0 || end > t1 || width < t1 - t0) store.set({ moment: store.clampedMoment([middle - width / 2, middle + width / 2]) });
}
