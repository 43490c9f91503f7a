// The bar of selections A and B: what they are, and fields to type them.
import type { Data } from "../data";
import { $ } from "../dom";
import { grouped } from "../format";
import { describeSelection, isRange, iterationSpans, rankSpans, scatteredSelection, type Span } from "../selection";
import type { Store } from "../state";

const spanText = ([from, to]: Span, first: number): string => (to - from === 1 ? String(from + first) : `${from + first}-${to - 1 + first}`);

const several = "several";

/** Reads a field that counts from `first` and has `count` values. Returns null for all, or a string that says why the text makes no sense. */
function typedSpan(text: string, what: string, count: number, first: number): Span | null | string {
  if (text === "") return null;
  const match = /^(\d+)\s*(?:[-–:]\s*(\d+))?$/.exec(text);
  const from = match ? Number(match[1]) - first : -1,
    to = match && match[2] !== undefined ? Number(match[2]) - first : from;
  if (to >= from && from >= 0 && to < count) return [from, to + 1];
  if (count <= 0) return `there are no ${what} to choose`;
  return `"${text}" selects no ${what}: type one from ${grouped(first)} to ${grouped(count - 1 + first)}, or a range such as ${first}-${Math.min(count - 1, 9) + first}`;
}

export function connectSelection(data: Data, store: Store): void {
  const { header } = data,
    scope = $<HTMLSelectElement>("a-scope"),
    iterationsInput = $<HTMLInputElement>("a-iterations"),
    ranksInput = $<HTMLInputElement>("a-ranks");
  iterationsInput.parentElement!.hidden = store.state.phase < 0;
  const show = (): void => {
    const { a, b } = store.state;
    $("a-text").textContent = describeSelection(data, a);
    scope.value = String(a.phase);
    for (const input of [iterationsInput, ranksInput]) input.removeAttribute("aria-invalid");
    $("a-refused").textContent = "";
    iterationsInput.value = isRange(data, a) && !a.iterations ? spanText([a.from, a.to], 1) : "";
    ranksInput.value = a.ranks && !a.scattered ? spanText(a.ranks, 0) : "";
    iterationsInput.placeholder = a.iterations ? several : "all";
    ranksInput.placeholder = a.scattered ? several : "all";
    $("b-text").textContent = b ? describeSelection(data, b) : "nothing to compare with";
    $<HTMLButtonElement>("b-clear").disabled = b === null;
    $<HTMLButtonElement>("b-rest").disabled = !a.ranks && !isRange(data, a);
    $("coloring").querySelector<HTMLOptionElement>('[value="difference"]')!.disabled = b === null;
  };
  const take = (): void => {
    let refused = "";
    const parse = (input: HTMLInputElement, what: string, count: number, first: number): Span | null => {
      const typed = typedSpan(input.value.trim(), what, count, first);
      input.removeAttribute("aria-invalid");
      if (typeof typed !== "string") return typed;
      input.setAttribute("aria-invalid", "true");
      refused = typed;
      return null;
    };
    const s = store.state,
      phase = s.a.phase >= 0 && header.phases[s.a.phase]!.iterations ? s.a.phase : s.phase;
    const n = phase >= 0 ? header.phases[phase]!.iterations! : 0;
    const iterations = parse(iterationsInput, "iterations", n, 1),
      ranks = parse(ranksInput, "ranks", header.job.ranks, 0);
    $("a-refused").textContent = refused;
    // What makes no sense leaves the selection as it was.
    if (refused) return;
    // A field that was left empty keeps the several ranges that it cannot show.
    const keptIterations = iterationsInput.value === "" && s.a.iterations ? iterationSpans(s.a) : iterations ? [iterations] : [],
      keptRanks = ranksInput.value === "" && s.a.scattered ? rankSpans(s.a)! : ranks ? [ranks] : [];
    store.set({
      a:
        keptIterations.length > 0
          ? scatteredSelection(phase, keptIterations, keptRanks, n)
          : scatteredSelection(s.a.phase, [], keptRanks, s.a.phase >= 0 ? n : 0),
    });
    show();
  };
  iterationsInput.addEventListener("change", take);
  ranksInput.addEventListener("change", take);
  scope.add(new Option("whole run", "-1"));
  header.phases.forEach((p, i) => scope.add(new Option(p.kind === "outside" ? "outside all phases" : "phase " + data.phaseName(i), String(i))));
  scope.onchange = () => {
    const phase = Number(scope.value),
      n = phase >= 0 ? (header.phases[phase]!.iterations ?? 0) : 0;
    store.set({
      a: { phase, from: 0, to: n, ranks: store.state.a.ranks },
      ...(n > 0 && phase !== store.state.phase ? { phase, map: header.phases[phase]!.maps![0]!.name, zoom: store.wholeZoom(phase) } : {}),
    });
  };
  $("a-clear").onclick = () => store.set({ a: { phase: -1, from: 0, to: 0, ranks: null } });
  $("b-keep").onclick = () => store.set({ b: store.state.a, coloring: "difference" });
  $("b-rest").onclick = () => store.set({ b: { ...store.state.a, rest: true }, coloring: "difference" });
  $("b-clear").onclick = () => store.set({ b: null, coloring: store.state.coloring === "difference" ? "share" : store.state.coloring });
  show();
  store.on(["a", "b"], show);
}
