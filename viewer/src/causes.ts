// Causes of lost time as selections.
import type { Data } from "./data";
import { scatteredSelection, spansOfFlat, type Selection } from "./selection";
import type { Store } from "./state";

/** Exactly the ranks and iterations of a cause. */
export function causeSelection(data: Data, cause: number): Selection {
  const { phase, iterations, ranks } = data.header.causes.list[cause]!;
  return scatteredSelection(phase, spansOfFlat(iterations), spansOfFlat(ranks), data.header.phases[phase]?.iterations ?? 0);
}

export function chooseCause(data: Data, store: Store, cause: number): void {
  const a = causeSelection(data, cause),
    other = a.phase >= 0 && a.phase !== store.state.phase && data.header.phases[a.phase]!.iterations;
  store.set({ cause, a, ...(other ? { phase: a.phase, map: data.header.phases[a.phase]!.maps![0]!.name, zoom: store.wholeZoom(a.phase) } : {}) });
}
