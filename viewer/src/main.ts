// Puts the page together: reads the data, makes the views, and lets changes of the state reach them.
import { Data, type Known } from "./data";
import { baseName, escaped, exactly, grouped, percent, plural, quantity, shortName } from "./format";
import { Icicle } from "./icicle";
import { hasLocation, isRange, MetricParts, SelectionProfile, type Selection } from "./profile";
import { describeSelection, Store } from "./state";
import { save, type Picture } from "./surface";
import { Timeline, type Hover } from "./timeline";
import { Tree, type TreeContent } from "./tree";
import { boundSentence, cards, measuredSentence, sampledSentence, shortcomings, standardErrorSentence, untoldSentence } from "./words";

const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

async function start(): Promise<void> {
  const data = new Data();
  await data.load();
  // What the address wants to see may have to be asked for first.
  const wanted = new URLSearchParams(location.hash.slice(1));
  await data
    .obtainMap(
      data.header.phases.findIndex((p) => p.iterations && p.name === wanted.get("phase")),
      wanted.get("map") ?? "",
    )
    .catch(() => undefined);
  const store = new Store(data),
    header = data.header,
    job = header.job;
  data.stayInTouch();

  // ---- head
  const words = job.command.split(" ");
  document.title = "libprofile: " + baseName(words[0] ?? "");
  $("title").textContent = [baseName(words[0] ?? ""), ...words.slice(1)].join(" ") || "(command unknown)";
  const hosts = header.locations.hosts;
  $("job").textContent = job.line;
  const { missing, losses, remarks } = shortcomings(data);
  $("badges").innerHTML = job.complete ? `<span class="badge">complete</span>` : `<span class="badge bad">INCOMPLETE</span>`;
  if (missing.length + losses.length > 0) {
    $("incomplete").hidden = false;
    $("incomplete").innerHTML =
      `<b>${missing.length ? "The data are incomplete." : "Something to know about these data:"}</b><ul>${[...missing, ...losses].map((t) => `<li>${escaped(t)}</li>`).join("")}</ul>`;
  }

  // ---- theme
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const applyTheme = (): void => {
    document.documentElement.dataset.theme = store.state.theme === "auto" ? (dark.matches ? "dark" : "light") : store.state.theme;
  };
  applyTheme();

  // ---- views
  const timeline = store.state.phase >= 0 ? new Timeline($("timeline"), data, store) : null;
  $("timeline").classList.toggle("few", job.ranks <= 4);
  if (!timeline) {
    $("iterations").hidden = true;
    $("a-iterations").parentElement!.hidden = true;
  }
  const metricTree = new Tree($("metric-tree"), "Metrics"),
    pathTree = new Tree($("path-tree"), "Call paths"),
    systemTree = new Tree($("system-tree"), "Hosts, ranks and threads");
  const icicle = new Icicle($("icicle"), data, store);
  dark.addEventListener("change", () => {
    applyTheme();
    redrawAll();
  });
  const redrawAll = (): void => {
    timeline?.picture.redraw();
    icicle.picture.redraw();
  };

  // System: all, hosts, NUMA nodes and cores where they are known, ranks, threads of ranks with several. A rank is where its main thread was
  // last seen.
  const systemParent: number[] = [-1],
    systemName: string[] = ["all"],
    systemLocation: number[] = [-1],
    systemHint: string[] = [""];
  const threads = new Map<number, number>();
  header.locations.rank.forEach((r) => threads.set(r, (threads.get(r) ?? 0) + 1));
  const addNode = (parent: number, name: string, at: number, hint: string): number => {
    systemParent.push(parent);
    systemName.push(name);
    systemLocation.push(at);
    systemHint.push(hint);
    return systemParent.length - 1;
  };
  const hostNode = hosts.map((h, i) => addNode(0, h || "(host unknown)", -1, header.locations.machines[i] ?? ""));
  const placeNode = new Map<string, number>();
  const placeOf = (l: number): number => {
    const place = header.locations,
      host = place.host[l]!,
      numa = place.numa_node[l]!,
      core = place.core[l]!;
    const level = (parent: number, key: string, name: string): number => {
      if (!placeNode.has(key)) placeNode.set(key, addNode(parent, name, -1, ""));
      return placeNode.get(key)!;
    };
    let node = hostNode[host]!;
    if (numa >= 0) node = level(node, host + "/" + numa, "NUMA node " + numa);
    return core < 0 ? node : level(node, host + "/" + numa + "/" + core, "core " + core);
  };
  const movesOf = (l: number): string => (header.locations.moves[l] ? `seen to move to another processor ${header.locations.moves[l]} times` : "");
  const rankNode = new Map<number, number>();
  header.locations.rank.forEach((rank, l) => {
    const several = threads.get(rank)! > 1;
    if (!rankNode.has(rank)) {
      rankNode.set(rank, addNode(placeOf(l), "rank " + rank, several ? -1 : l, several ? "" : movesOf(l)));
    }
    if (several) {
      const core = header.locations.core[l]!;
      addNode(
        rankNode.get(rank)!,
        header.locations.thread[l] === 0 ? "main thread" : "thread " + header.locations.thread[l],
        l,
        (core < 0 ? "" : `last seen on core ${core}`) + (movesOf(l) && "; " + movesOf(l)),
      );
    }
  });
  const metricParent = header.metrics.map((m) => m.parent);

  let a: SelectionProfile,
    b: SelectionProfile | null = null;

  const metricContent = (): TreeContent => {
    const totalsOf = (p: SelectionProfile, unit: number): { inclusive(n: number): number; exclusive(n: number): number } => {
      const list = header.metrics.map((_, r) => p.total(r));
      const own = list.slice();
      metricParent.forEach((parent, r) => {
        if (parent >= 0) own[parent]! -= list[r]!;
      });
      // Estimates are no whole numbers: what is left over from their rounding is nothing.
      for (let r = 0; r < list.length; ++r) {
        if (Math.abs(own[r]!) < 1e-9 * list[r]!) own[r] = 0;
        own[r]! /= unit;
        list[r]! /= unit;
      }
      return { inclusive: (n) => list[n]!, exclusive: (n) => own[n]! };
    };
    const first = totalsOf(a, b ? a.unit() : 1),
      second = b ? totalsOf(b, b.unit()) : undefined;
    const untold = [a.untold(), b?.untold() ?? 0];
    return {
      parent: metricParent,
      ...first,
      fixedOrder: true,
      unknown: (n, ofOther) => untold[ofOther ? 1 : 0]! > 0 && header.metrics[n]!.name !== "time",
      ...(second ? { other: second } : {}),
      // The parent says that it is MPI.
      name: (n) =>
        metricParent[n]! >= 0 && header.metrics[metricParent[n]!]!.label.startsWith("MPI")
          ? header.metrics[n]!.label.replace(/^MPI /, "")
          : header.metrics[n]!.label,
      hint: (n) => `${header.metrics[n]!.label}: ${header.metrics[n]!.description}\n${exactly(first.inclusive(n), header.metrics[n]!.unit)}`,
      whole: (n) => {
        let top = n;
        while (metricParent[top]! >= 0) top = metricParent[top]!;
        return first.inclusive(top);
      },
      show: (v, n) => quantity(v, header.metrics[n]!.unit),
      hidden: (n) => first.inclusive(n) === 0 && (second?.inclusive(n) ?? 0) === 0,
    };
  };
  const pathContent = (): TreeContent => {
    const unitA = b ? a.unit() : 1,
      unitB = b ? b.unit() : 1,
      metric = header.metrics[a.parts.row]!,
      nodes = header.nodes;
    const untold = [a.untold(), b?.untold() ?? 0];
    return {
      parent: nodes.parent,
      inclusive: (n) => a.inclusive[n]! / unitA,
      exclusive: (n) => a.exclusive[n]! / unitA,
      ...(b ? { other: { inclusive: (n: number) => b!.inclusive[n]! / unitB, exclusive: (n: number) => b!.exclusive[n]! / unitB } } : {}),
      shares: true,
      whole: () => a.inclusive[0]! / unitA,
      imbalance: (n) => a.imbalance(n),
      // Of call paths the told part is shown, but not compared.
      unknown: (n, ofOther) => untold[ofOther ? 1 : 0]! > 0 && (n === 0 ? metric.name !== "time" : b !== null),
      name: (n) => (nodes.kind[n] === "inlined" ? "[inlined] " : "") + shortName(nodes.name[n]!),
      side: (n) => nodes.place[n]!,
      hint: (n) =>
        `${nodes.name[n]}${nodes.file[n] ? "\n" + nodes.file[n] : ""}${nodes.place[n] ? "\n" + nodes.place[n] : ""}\ninclusive ${exactly(a.inclusive[n]!, metric.unit)}${a.quality(n, false, (v) => exactly(v, metric.unit))}\nown ${exactly(a.exclusive[n]!, metric.unit)}${a.quality(n, true, (v) => exactly(v, metric.unit))}`,
      show: (v) => quantity(v, metric.unit),
      hidden: (n) => n !== 0 && a.inclusive[n] === 0 && (b === null || b.inclusive[n] === 0),
    };
  };
  const systemContent = (): TreeContent => {
    const node = store.state.node,
      metric = header.metrics[a.parts.row]!;
    const valuesOf = (p: SelectionProfile): { inclusive(n: number): number; exclusive(n: number): number } => {
      // Per location the mean iteration when two selections are compared.
      const scale = b ? p.locations / p.unit() : 1;
      const summed = (source: Float64Array): number[] => {
        const list = systemLocation.map((l) => (l < 0 ? 0 : source[l * data.nodes + node]! * scale));
        for (let n = list.length - 1; n > 0; --n) list[systemParent[n]!]! += list[n]!;
        return list;
      };
      const inclusive = summed(p.inclusiveBy),
        exclusive = summed(p.byLocation);
      return { inclusive: (n) => inclusive[n]!, exclusive: (n) => exclusive[n]! };
    };
    const first = valuesOf(a);
    const isAllTime = node === 0 && metric.name === "time";
    const [untoldA, untoldB] = [a, b].map((p) => systemLocation.map((l) => (l >= 0 && p !== null ? p.untoldBy[l]! : 0))) as [number[], number[]];
    for (const list of [untoldA, untoldB]) for (let n = list.length - 1; n > 0; --n) list[systemParent[n]!]! += list[n]!;
    const chosen = systemLocation.map((l) => l >= 0 && (hasLocation(data, a.selection, l) || (b !== null && hasLocation(data, b.selection, l))));
    const seen = chosen.slice();
    for (let n = seen.length - 1; n > 0; --n) if (seen[n]) seen[systemParent[n]!] = true;
    const largest = Math.max(1, ...systemLocation.map((l, n) => (l < 0 ? 0 : first.inclusive(n))));
    return {
      parent: systemParent,
      ...first,
      ...(b ? { other: valuesOf(b) } : {}),
      // A bar is as long as the largest rank's is wide, so that ranks can be compared.
      whole: (n) => (systemLocation[n]! >= 0 ? largest : first.inclusive(0)),
      name: (n) => systemName[n]!,
      show: (v) => quantity(v, metric.unit),
      unknown: (n, ofOther) => !isAllTime && (ofOther ? untoldB : untoldA)[n]! > 0,
      hint: (n) =>
        `${systemName[n]}${systemHint[n] ? "\n" + systemHint[n] : ""}\n${exactly(first.inclusive(n), metric.unit)}${a.exact || a.inclusiveError[node] === 0 ? "" : a.known && a.inclusiveError[node] !== Infinity ? ` (± ${exactly(a.inclusiveError[node]!, metric.unit)} over all)` : " (estimate)"}`,
      hidden: (n) => !seen[n] || (n > 0 && n <= hosts.length && hosts.length === 1 && false),
      fixedOrder: store.state.sorting === "name",
    };
  };

  let run = 0;
  let asking = false,
    failed = "";
  const compute = async (): Promise<void> => {
    const mine = ++run,
      s = store.state;
    const of = async (selection: Selection, known: Known | null): Promise<SelectionProfile> =>
      new SelectionProfile(
        data,
        selection,
        s.row,
        selection.phase >= 0 && header.phases[selection.phase]!.clusters && !known ? await data.parts(selection.phase) : null,
        known,
      );
    const show = async (knownA: Known | null, knownB: Known | null): Promise<void> => {
      const first = await of(s.a, knownA),
        second = s.b ? await of(s.b, knownB) : null;
      if (mine !== run) return;
      a = first;
      b = second;
      await showTrees();
    };
    failed = "";
    const asked = [s.a, s.b].map((x) => header.served && x !== null && isRange(data, x));
    if (!asked[0] && !asked[1]) return show(null, null);
    // Estimates at once; one question at a time, so that dragging does not make a queue of them.
    await show(null, null);
    if (asking) return;
    asking = true;
    try {
      const known = await Promise.all([s.a, s.b].map((x, i) => (asked[i] ? data.knownOf(x!) : null)));
      if (mine === run) await show(known[0]!, known[1]!);
    } catch (error) {
      failed = error instanceof Error ? error.message : String(error);
      if (mine === run) await describe();
    } finally {
      asking = false;
      if (mine !== run) void compute();
    }
  };
  const showTrees = async (): Promise<void> => {
    const s = store.state;
    pathTree.sorting = systemTree.sorting = s.sorting;
    metricTree.setContent(metricContent());
    pathTree.setContent(pathContent());
    systemTree.setContent(systemContent());
    icicle.show(a, b);
    await describe();
  };

  /** How good the numbers of the trees are; where the profile knows the truth of whole iterations, the estimate is held against it. */
  const describe = async (): Promise<void> => {
    const s = store.state,
      text = $("accuracy");
    text.classList.toggle("estimate", !a.exact || (b !== null && !b.exact));
    const sentences: string[] = [];
    if (a.exact && (!b || b.exact)) sentences.push("Exact: sums of stored integers.");
    else if (a.known) {
      const metric = header.metrics[s.row]!,
        sum = a.inclusive[0]!;
      let bound = 0;
      for (const e of a.exclusiveError) if (e !== Infinity) bound += e;
      sentences.push(`Read from what the profile holds of these iterations${a.inclusiveError[0] === 0 ? "; sums are exact" : ""}.`);
      if (bound > 0 || a.estimated < sum) sentences.push(boundSentence(metric, bound));
      if (a.estimated > 0) sentences.push(sampledSentence(sum === 0 ? 0 : a.estimated / sum));
    } else {
      sentences.push("Estimate: a cluster's mean stands for each of its iterations.");
      if (failed) sentences.push(`Better numbers cannot be had: ${failed}.`);
      else if (header.served) sentences.push("Reading the iterations themselves …");
      else if (header.phases[s.a.phase]?.accuracy && Object.keys(header.phases[s.a.phase]!.accuracy!).length)
        sentences.push("The profile holds more of them: libprofile view --serve shows that.");
      if (a.error > 0) sentences.push(standardErrorSentence(a.error));
      const metric = header.metrics[s.row]!,
        map = isRange(data, s.a) && !s.a.rest ? data.map(s.a.phase, metric.name) : undefined;
      if (map?.exact && map.told) {
        let truth = -1;
        if (s.a.ranks === null) {
          const sum = (await data.spread(s.a.phase, map)).sum;
          truth = 0;
          for (let i = s.a.from; i < s.a.to; ++i) truth += sum[i]!;
        } else {
          const values = await data.values(s.a.phase, map),
            n = header.phases[s.a.phase]!.iterations!;
          if (values) {
            truth = 0;
            for (let r = s.a.ranks[0]; r < s.a.ranks[1]; ++r) for (let i = s.a.from; i < s.a.to; ++i) truth += Math.max(0, values[r * n + i]! - 1);
          }
        }
        let estimate = 0;
        for (const l of data.mainOfRank) if (l >= 0) estimate += a.inclusiveBy[l * data.nodes]!;
        if (truth >= 0 && store.state.a === s.a) sentences.push(measuredSentence(metric, truth, estimate));
      }
    }
    const phase = header.phases[s.a.phase];
    if (phase?.inside) sentences.push("Phases inside are part of this.");
    for (const [name, p] of [
      [b ? " of A" : "", a],
      [" of B", b],
    ] as const)
      if (p && p.untold() > 0) sentences.push(untoldSentence(name));
    if (b)
      sentences.push(
        `Compared: means per rank${s.a.phase >= 0 ? " and iteration" : ""}${s.b && s.b.phase >= 0 !== s.a.phase >= 0 ? " (B: " + (s.b.phase >= 0 ? "also per iteration" : "of the whole run") + ")" : ""}.`,
      );
    text.textContent = sentences.join(" ");
    text.title = "The colours of the map have up to 255 steps; numbers of trees do not.";
  };

  // ---- selection bar
  const showSelections = (): void => {
    const s = store.state,
      n = s.a.phase >= 0 ? (header.phases[s.a.phase]!.iterations ?? 0) : 0;
    $("a-text").textContent = describeSelection(data, s.a);
    $<HTMLSelectElement>("a-scope").value = String(s.a.phase);
    for (const id of ["a-iterations", "a-ranks"]) $(id).removeAttribute("aria-invalid");
    $("a-refused").textContent = "";
    $<HTMLInputElement>("a-iterations").value = isRange(data, s.a) ? (s.a.to - s.a.from === 1 ? String(s.a.to) : `${s.a.from + 1}-${s.a.to}`) : "";
    $<HTMLInputElement>("a-ranks").value = s.a.ranks ? (s.a.ranks[1] - s.a.ranks[0] === 1 ? String(s.a.ranks[0]) : `${s.a.ranks[0]}-${s.a.ranks[1] - 1}`) : "";
    $("b-text").textContent = s.b ? describeSelection(data, s.b) : "nothing to compare with";
    $<HTMLButtonElement>("b-clear").disabled = s.b === null;
    $<HTMLButtonElement>("b-rest").disabled = !(s.a.ranks || isRange(data, s.a)) || n < 0;
    $<HTMLOptionElement>("coloring").querySelector<HTMLOptionElement>('[value="difference"]')!.disabled = s.b === null;
  };
  const typed = (): void => {
    // From (included) to (excluded), counted from 0; null: all; `first`: what the first one is called. What makes no sense selects nothing else.
    let refused = "";
    const parse = (id: string, what: string, most: number, first: number): [number, number] | null => {
      const input = $<HTMLInputElement>(id),
        m = /^\s*(\d+)\s*(?:[-–:]\s*(\d+))?\s*$/.exec(input.value);
      const from = m ? Number(m[1]) - first : -1,
        to = m && m[2] !== undefined ? Number(m[2]) - first : from;
      const good = m !== null && to >= from && from >= 0 && to < most,
        empty = input.value.trim() === "";
      input.toggleAttribute("aria-invalid", false);
      if (good || empty) return good ? [from, to + 1] : null;
      input.setAttribute("aria-invalid", "true");
      refused =
        most <= 0
          ? `there are no ${what} to choose`
          : `"${input.value.trim()}" selects no ${what}: there are ${grouped(first)} to ${grouped(most - 1 + first)}, one or a range such as ${first}-${Math.min(most - 1, 9) + first}`;
      return null;
    };
    const s = store.state,
      phase = s.a.phase >= 0 && header.phases[s.a.phase]!.iterations ? s.a.phase : s.phase;
    const n = phase >= 0 ? header.phases[phase]!.iterations! : 0;
    const iterations = parse("a-iterations", "iterations", n, 1),
      ranks = parse("a-ranks", "ranks", job.ranks, 0);
    $("a-refused").textContent = refused;
    if (refused) return;
    store.set({ a: iterations ? { phase, from: iterations[0], to: iterations[1], ranks } : { phase: s.a.phase, from: 0, to: s.a.phase >= 0 ? n : 0, ranks } });
    showSelections();
  };
  $("a-iterations").addEventListener("change", typed);
  $("a-ranks").addEventListener("change", typed);
  const scope = $<HTMLSelectElement>("a-scope");
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

  // ---- tool bars
  const phaseSelect = $<HTMLSelectElement>("phase"),
    mapSelect = $<HTMLSelectElement>("map-metric");
  header.phases.forEach((p, i) => {
    if (p.iterations) phaseSelect.add(new Option(`${data.phaseName(i)} (${grouped(p.iterations)})`, String(i)));
  });
  const fillMaps = (): void => {
    const phase = header.phases[store.state.phase];
    mapSelect.replaceChildren(...(phase?.maps ?? []).map((m) => new Option(m.label + (m.exact ? "" : " (estimate)"), m.name)));
    for (const { name, label } of phase?.left_out ?? []) {
      const option = new Option(header.served ? label : `${label}: not in this page, see --metric`, name);
      option.disabled = !header.served;
      mapSelect.add(option);
    }
  };
  const showControls = (): void => {
    const s = store.state;
    phaseSelect.value = String(s.phase);
    mapSelect.value = s.map;
    $<HTMLSelectElement>("pooling").value = s.pooling;
    $<HTMLSelectElement>("sorting").value = s.sorting;
    $<HTMLSelectElement>("coloring").value = s.coloring;
    $("theme").textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[s.theme];
  };
  /** False: there is no such map, or something else was chosen while it came. */
  const obtain = async (name: string): Promise<boolean> => {
    const phase = store.state.phase;
    if (data.map(phase, name)) return true;
    $("readout").textContent = `Reading ${name} …`;
    try {
      await data.obtainMap(phase, name);
    } catch (error) {
      $("readout").textContent = error instanceof Error ? error.message : String(error);
      showControls();
      return false;
    }
    $("readout").textContent = hint;
    if (store.state.phase !== phase || !data.map(phase, name)) return false;
    fillMaps();
    showControls();
    return true;
  };
  phaseSelect.onchange = () => {
    const phase = Number(phaseSelect.value);
    store.set({ phase, map: header.phases[phase]!.maps![0]!.name, zoom: store.wholeZoom(phase), a: { phase: -1, from: 0, to: 0, ranks: null } });
  };
  mapSelect.onchange = async () => {
    const name = mapSelect.value; // which the list does not keep while it is filled anew
    if (!(await obtain(name))) return;
    const row = header.metrics.findIndex((m) => m.name === name);
    store.set(row >= 0 ? { map: name, row } : { map: name, row: name === "iteration_time" ? 0 : store.state.row });
  };
  $<HTMLSelectElement>("pooling").onchange = (e) => store.set({ pooling: (e.target as HTMLSelectElement).value as "max" | "mean" });
  $<HTMLSelectElement>("sorting").onchange = (e) => store.set({ sorting: (e.target as HTMLSelectElement).value as "value" | "name" | "imbalance" });
  $<HTMLSelectElement>("coloring").onchange = (e) => store.set({ coloring: (e.target as HTMLSelectElement).value as "share" | "imbalance" | "difference" });
  $("zoom-in").onclick = () => timeline?.zoomBy(0.5, "x");
  $("zoom-out").onclick = () => timeline?.zoomBy(2, "x");
  $("zoom-all").onclick = () => store.set({ zoom: store.wholeZoom(store.state.phase) });
  $("theme").onclick = () => store.set({ theme: ({ auto: "dark", dark: "light", light: "auto" } as const)[store.state.theme] });
  $("link").onclick = async () => {
    history.replaceState(null, "", "#" + store.link());
    try {
      await navigator.clipboard.writeText(location.href);
      $("link").textContent = "Copied";
    } catch {
      $("link").textContent = "It is in the address bar";
    }
    setTimeout(() => ($("link").textContent = "Copy link"), 1500);
  };
  const hint = "drag: select iterations (in the map also ranks) · click: one · Ctrl+wheel: zoom · Shift+wheel: zoom ranks · Shift+drag: move · ? for keys";
  $("readout").textContent = hint;
  if (timeline)
    timeline.onHover = (h: Hover | null) => {
      $("readout").textContent = h ? timeline.describe(h) : hint;
    };
  icicle.onHover = (text) => {
    $("icicle-readout").textContent = text || "click: select · double click: zoom · Escape: all";
  };
  icicle.onHover("");

  const search = $<HTMLInputElement>("search");
  const showFound = (): void => {
    $("found").textContent = search.value.trim() ? pathTree.found() : "";
  };
  const findNext = (step: number): void => {
    pathTree.next(step);
    showFound();
  };
  search.oninput = () => {
    pathTree.search(search.value);
    showFound();
  };
  search.onkeydown = (e) => {
    if (e.key === "Enter") {
      e.preventDefault();
      findNext(e.shiftKey ? -1 : 1);
    }
    if (e.key !== "Escape") return;
    e.preventDefault();
    search.value = "";
    pathTree.search("");
    showFound();
    document.querySelector<HTMLElement>("#path-tree .tree-scroll")?.focus();
  };
  $("find-next").onclick = () => findNext(1);
  $("hot").onclick = () => pathTree.hotPath(store.state.node > 0 && !pathTree.isOpen(store.state.node) ? store.state.node : -1);
  metricTree.onSelect = async (row) => {
    const name = header.metrics[row]!.name;
    store.set({ row });
    if (row !== 0 && header.served && header.phases[store.state.phase]?.left_out?.some((m) => m.name === name)) {
      const there = await obtain(name);
      if (!there || store.state.row !== row) return;
    }
    store.set(
      store.state.phase >= 0 && data.map(store.state.phase, name) && row !== 0
        ? { row, map: name }
        : row === 0 && store.state.phase >= 0
          ? { row, map: header.phases[store.state.phase]!.maps![0]!.name }
          : { row },
    );
  };
  pathTree.onSelect = (node) => store.set({ node });
  systemTree.onSelect = (n) => {
    // A rank or a thread of it: what the other views show, too.
    const l = systemLocation[n]!,
      rank = l >= 0 ? header.locations.rank[l]! : ([...rankNode].find(([, node]) => node === n)?.[0] ?? -1);
    if (rank < 0) {
      if (n === 0) store.set({ a: { ...store.state.a, ranks: null } });
      return;
    }
    systemChoice = rank;
    $("b-rank").textContent = `Select rank ${rank}`;
    $("b-rank").hidden = false;
  };
  let systemChoice = -1;
  const only = document.createElement("button");
  only.id = "b-rank";
  only.hidden = true;
  only.onclick = () => {
    const n = store.state.a.phase;
    store.set({ a: { ...store.state.a, phase: n, ranks: [systemChoice, systemChoice + 1], rest: false } });
  };
  $("system-tree").previousElementSibling!.insertBefore(only, $("system-tree").previousElementSibling!.querySelector(".export"));

  // ---- exports
  const fileName = (name: string): string => `${baseName(words[0] ?? "profile")}-${name}`;
  const unit = (): string => header.metrics[store.state.row]!.unit;
  const iterationsCsv = async (): Promise<string> => {
    const s = store.state,
      map = data.map(s.phase, s.map)!,
      spread = await data.spread(s.phase, map);
    const lines = [`iteration,minimum [${map.unit}],median,maximum,sum,rank with the maximum`];
    for (let i = 0; i < spread.maximum.length; ++i)
      lines.push([i + 1, spread.minimum[i], spread.median[i], spread.maximum[i], spread.sum[i], spread.slowest[i]].join(","));
    return lines.join("\n") + "\n";
  };
  const exportAs: Record<string, () => void | Promise<void>> = {
    "iterations.svg": () => {
      if (timeline) save(fileName("iterations.svg"), timeline.picture.svg(), "image/svg+xml");
    },
    "iterations.png": async () => {
      if (timeline) save(fileName("iterations.png"), await (timeline.picture as Picture).png());
    },
    "iterations.csv": async () => save(fileName("iterations.csv"), await iterationsCsv(), "text/csv"),
    "icicle.svg": () => save(fileName("icicle.svg"), icicle.picture.svg(), "image/svg+xml"),
    "icicle.png": async () => save(fileName("icicle.png"), await icicle.picture.png()),
    "metrics.csv": () => save(fileName("metrics.csv"), metricTree.csv("unit of the metric"), "text/csv"),
    "callpaths.csv": () => save(fileName("callpaths.csv"), pathTree.csv(unit()), "text/csv"),
    "ranks.csv": () => save(fileName("ranks.csv"), systemTree.csv(unit()), "text/csv"),
  };
  document.querySelectorAll<HTMLElement>("[data-export]").forEach((button) => {
    button.title = "Save as " + button.dataset.export!.split(".")[1]!.toUpperCase();
    button.onclick = () => void exportAs[button.dataset.export!]!();
  });

  // ---- regions
  const { rows: regions, counters, functions_left_out } = header.regions;
  $("regions-section").hidden = regions.length === 0;
  $("regions").innerHTML =
    `<table><thead><tr>${["region", "visits", "time", "own time", "per visit", ...counters].map((x) => `<th>${escaped(x)}</th>`).join("")}</tr></thead><tbody>${regions
      .map(
        (r, i) =>
          `<tr><td><span class="dim">${escaped(r.kind)}</span> ${r.map ? `<button data-region="${i}" title="Its time in every iteration">${escaped(r.name)}</button>` : escaped(shortName(r.name))} <span class="side">${escaped(r.place)}</span></td>` +
          [
            grouped(r.visits),
            quantity(r.time, "ns"),
            quantity(r.own, "ns"),
            quantity(r.visits ? r.time / r.visits : 0, "ns"),
            ...counters.map((_, c) => (c < r.counted.length ? grouped(r.counted[c]!) : "")),
          ]
            .map((x) => `<td>${x}</td>`)
            .join("") +
          "</tr>",
      )
      .join("")}</tbody></table>` + (functions_left_out ? `<p class="dim">and ${plural(functions_left_out, "more function")}, with less time</p>` : "");
  const showRegionButtons = (): void => {
    const phase = header.phases[store.state.phase];
    $("regions")
      .querySelectorAll<HTMLButtonElement>("button")
      .forEach((button) => {
        const { map } = regions[Number(button.dataset.region)]!;
        button.disabled = !phase?.maps?.some((m) => m.name === map) && !(header.served && phase?.left_out?.some((m) => m.name === map));
      });
  };
  $("regions").addEventListener("click", async (e) => {
    const button = (e.target as HTMLElement).closest<HTMLElement>("[data-region]"),
      name = button ? regions[Number(button.dataset.region)]!.map : "";
    if (!name || !(await obtain(name))) return;
    store.set({ map: name });
    $("iterations").scrollIntoView({ block: "nearest" });
  });

  // ---- keys
  $("help").innerHTML = `<h2>Keys</h2><table>${[
    ["?", "this help"],
    ["/", "search call paths; there Enter: next, Shift Enter: the one before, Escape: leave"],
    ["1 … 4", "to the iterations, metrics, call paths, ranks"],
    ["h", "hot path (in the call paths)"],
    ["*", "open everything below"],
    ["← → ↑ ↓", "in a tree: close, open, up, down; in the pictures: move"],
    ["Shift ← →", "move the selection by one iteration"],
    ["+ − 0", "zoom in, out, show all"],
    ["b", "keep A as B"],
    ["x", "clear the comparison"],
    ["Escape", "whole run"],
    ["t", "light or dark"],
  ]
    .map(([k, v]) => `<tr><td><kbd>${k}</kbd></td><td>${v}</td></tr>`)
    .join("")}</table><p class="dim">Click or Escape closes.</p>`;
  const help = $<HTMLDialogElement>("help");
  help.onclick = () => help.close();
  $("help-button").onclick = () => help.showModal();
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).matches("input, select")) return;
    const focus = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.focus();
    const actions: Record<string, () => void> = {
      "?": () => help.showModal(),
      "/": () => {
        search.focus();
        search.select();
      },
      "1": focus("#timeline canvas"),
      "2": focus("#metric-tree .tree-scroll"),
      "3": focus("#path-tree .tree-scroll"),
      "4": focus("#system-tree .tree-scroll"),
      b: () => $("b-keep").click(),
      x: () => $("b-clear").click(),
      t: () => $("theme").click(),
      Escape: () => {
        if (!help.open && !(e.target as HTMLElement).closest("#icicle")) $("a-clear").click();
      },
    };
    const action = actions[e.key];
    if (action) {
      e.preventDefault();
      action();
    }
  });

  // ---- details
  const accuracyRows = header.phases.flatMap((p, i) =>
    Object.entries(p.accuracy ?? {}).map(([name, v]) => {
      const m = header.metrics.find((x) => x.name === name),
        u = m?.unit ?? (name === "time" ? "ns" : "");
      return `<tr><td>${escaped(data.phaseName(i))}</td><td>${escaped(m?.label ?? name)}</td><td>${quantity(v.largest_error, u)}</td><td>${quantity(v.sum_of_errors / Math.max(1, v.cells), u)}</td></tr>`;
    }),
  );
  $("about").innerHTML =
    `<table><tr><td>command</td><td>${escaped(job.command)}</td></tr><tr><td>folder</td><td>${escaped(job.folder)}</td></tr><tr><td>hosts</td><td>${escaped(hosts.join(", "))}</td></tr><tr><td>MPI</td><td>${escaped(job.mpi)}</td></tr><tr><td>libprofile</td><td>${escaped(job.version)}</td></tr><tr><td>configuration</td><td><pre>${escaped(job.configuration)}</pre></td></tr>${remarks.map((t) => `<tr><td>remark</td><td>${escaped(t)}</td></tr>`).join("")}</table>` +
    (accuracyRows.length
      ? `<h2>Stored error bound of single iterations</h2><p class="dim">MPI call paths of every iteration are in the profile with at most this error (libprofile report --format json has them). ${header.served ? "The trees use them." : "The trees of this page use clusters, those of libprofile view --serve the iterations."}</p><table><tr><td>phase</td><td>metric</td><td>largest error</td><td>mean error</td></tr>${accuracyRows.join("")}</table>`
      : "");

  // ---- changes
  const firstOpen = (): void => {
    const path = new Set<number>();
    let node = 0;
    for (let depth = 0; depth < 40; ++depth) {
      path.add(node);
      let next = -1;
      header.nodes.parent.forEach((p, n) => {
        if (p === node && (next < 0 || a.inclusive[n]! > a.inclusive[next]!)) next = n;
      });
      if (next < 0 || a.inclusive[next]! < 0.5 * a.inclusive[node]!) break;
      node = next;
    }
    pathTree.setOpen(path);
    const index = (name: string): number => header.metrics.findIndex((m) => m.name === name);
    metricTree.setOpen(["time", "execution", "mpi", "mpi_communication", "bytes"].map(index));
    systemTree.setOpen(job.ranks <= 128 ? [0, ...hostNode, ...placeNode.values()] : [0]);
    if (store.state.node > 0) pathTree.reveal(store.state.node);
  };
  store.onChange((changed) => {
    const has = (...names: (keyof typeof store.state)[]): boolean => names.some((n) => changed.has(n));
    if (has("theme")) {
      applyTheme();
      redrawAll();
    }
    if (has("phase")) {
      fillMaps();
      showRegionButtons();
    }
    if (has("phase", "map", "pooling")) void timeline?.load();
    if (has("phase")) showAnswers();
    if (has("a", "b", "row", "sorting")) void compute();
    if (has("node")) {
      pathTree.select(store.state.node, true);
      systemTree.setContent(systemContent());
      icicle.picture.redraw();
      if (!document.activeElement?.closest("#path-tree")) pathTree.reveal(store.state.node);
    }
    if (has("row")) metricTree.select(store.state.row, true);
    if (has("coloring")) icicle.picture.redraw();
    if (has("zoom", "a", "b")) timeline?.picture.redraw();
    if (has("a", "b")) showSelections();
    showControls();
  });
  const showAnswers = (): void => {
    $("answers").innerHTML = cards(data, store.state.phase)
      .map((x) => `<div class="answer"><h2>${escaped(x.title)}</h2>${x.html}</div>`)
      .join("");
  };
  fillMaps();
  showRegionButtons();
  showControls();
  showSelections();
  showAnswers();
  await Promise.all([compute(), timeline?.load()]);
  firstOpen();
  metricTree.select(store.state.row, true);
  pathTree.select(store.state.node, true);
  systemTree.setContent(systemContent());
  // For scripts and tests.
  Object.assign(window, {
    libprofile: {
      data,
      store,
      timeline,
      icicle,
      trees: { metricTree, pathTree, systemTree },
      profile: () => a,
      other: () => b,
      MetricParts,
      format: { quantity, percent },
    },
  });
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch((error: unknown) => {
  $("incomplete").hidden = false;
  $("incomplete").textContent =
    `This page cannot show its profile: ${error instanceof Error ? error.message : String(error)}. Write it again with libprofile view; the browser needs to be from 2023 or newer.`;
  document.documentElement.dataset.ready = "failed";
  console.error(error);
});
