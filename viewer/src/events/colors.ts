// The colours of the timeline.
import { clusterColors, pixel, warmth } from "../color";
import type { EventsHeader } from "../header";

export type Rgb = [number, number, number];

/** As in the strips of groups. */
const byKey: Record<string, Rgb> = {
  computing: clusterColors[0]!,
  point_to_point: clusterColors[2]!,
  collective: clusterColors[3]!,
  synchronization: clusterColors[4]!,
  one_sided: clusterColors[5]!,
  file_io: clusterColors[6]!,
  other_mpi: clusterColors[7]!,
  openmp: clusterColors[8]!,
  omp_barrier: [140, 160, 190],
  omp_idle: [205, 210, 218],
  omp_lock: [115, 65, 80],
  omp_task_wait: [190, 170, 125],
  task: clusterColors[1]!,
  init_exit: clusterColors[16]!,
};
export const stateColors = (events: EventsHeader): Rgb[] => events.states.map((state) => byKey[state.key] ?? clusterColors[17]!);

/** Of what the order is not known: lighter, over any background. */
export const lighter = (opaque: number): number => ((opaque & 0xffffff) | 0x80000000) >>> 0;
export const lightest = (opaque: number): number => ((opaque & 0xffffff) | 0x40000000) >>> 0;

/** Types beyond these, and tasks whose creation is not there, have one colour together. */
export const coloredTypes = 16;
export const typeColor = (type: number): Rgb => clusterColors[type < coloredTypes ? type : 17]!;
/** By state of Pieces: in no task, types, others. */
export const typeColors = (types: number): Rgb[] => [
  [190, 190, 190],
  ...Array.from({ length: Math.min(types, coloredTypes) }, (_, type) => typeColor(type)),
  typeColor(coloredTypes),
];

export const kindColor = (kind: number): Rgb => clusterColors[kind === 0 ? 17 : Math.min(kind - 1, 16)]!;
/** Not those of states. */
export const regionColor = (node: number): Rgb => clusterColors[9 + ((node * 3) % 7)]!;

/** Shades of durations between two limits, equal steps for equal ratios. */
export class Shades {
  private readonly pixels: number[] = [];
  constructor(
    readonly least: number,
    readonly most: number,
    readonly count = 33,
  ) {
    for (let i = 0; i < count; ++i) this.pixels.push(pixel(warmth(0.12 + (0.88 * i) / (count - 1))));
  }
  share = (ns: number): number => Math.min(1, Math.max(0, Math.log(Math.max(ns, 1) / this.least) / Math.log(this.most / this.least)));
  of = (ns: number): number => this.pixels[Math.round(this.share(ns) * (this.count - 1))]!;
}
