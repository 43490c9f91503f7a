// What the colours of tasks say: their type, the NUMA node of their data, or how many of their accesses go to another node.
import { warmth } from "../color";
import type { EventMode } from "../state";
import { coloredTypes, typeColor, typeColors, type Rgb } from "./colors";
import type { Tasks } from "./tasks";

/** Classes of tasks: states of Pieces. 0: in no task; the last one: other tasks, or it is not known. */
export interface TaskColors {
  name: string; // of the classes
  colors: Rgb[]; // by class
  of(task: number): number;
}

/** Nodes beyond these have one colour together. */
export const coloredNodes = 16;
export const nodeColor = (node: number): Rgb => typeColor(Math.min(node, coloredNodes));
const inNone: Rgb = [190, 190, 190],
  notKnown: Rgb = [130, 130, 130];
/** A share of 0 differs from what is pale, too. */
export const remoteColor = (share: number): Rgb => warmth(0.25 + 0.75 * share);

/** null: colours are not about tasks. @param shades of shares */
export function taskColors(mode: EventMode, tasks: Tasks, types: number, shades: number): TaskColors | null {
  const { places } = tasks;
  if (mode === "type" || mode === "task_duration")
    return { name: "type", colors: typeColors(types), of: (task) => 1 + Math.min(tasks.type[task]!, Math.min(types, coloredTypes)) };
  if (!places) return null;
  if (mode === "read_map" || mode === "write_map") {
    const shown = Math.min(places.nodes, coloredNodes + 1);
    return {
      name: mode,
      colors: [inNone, ...Array.from({ length: shown }, (_, node) => nodeColor(node)), notKnown],
      of: (task) => {
        const node = places.mainNode(tasks, task, mode === "read_map" ? "read" : "written");
        return 1 + (node < 0 ? shown : Math.min(node, coloredNodes));
      },
    };
  }
  if (mode !== "remote") return null;
  return {
    name: `remote ${shades}`,
    colors: [inNone, ...Array.from({ length: shades }, (_, i) => remoteColor(i / (shades - 1))), notKnown],
    of: (task) => {
      const share = places.remoteShare(tasks, task);
      return 1 + (isNaN(share) ? shades : Math.round(share * (shades - 1)));
    },
  };
}
