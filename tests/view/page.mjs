// Looks at a page in Chromium and prints what it found as JSON.
//   node page.mjs MODULES CHROMIUM PAGE SCREENSHOTS ACTION [NUMBERS]
// NUMBERS: a JSON file with [unit, value] to spell.
// PAGE: a file, or the address of libprofile view --serve.
// ACTION: causes (what they select), strip (ranks over time), served (what a page can ask for), numbers (numbers and words of the page), looks (screenshots of its states, and their colours),
// bottom_up (functions and their callers), errors (of sampled times), lines (of a function), regions (their list, and their values by iteration), untold (iterations whose inner phases the profile does not have), side (several runs), speed (start and frames), deviations (from the median rank),
// events (the timeline of kept events), tasks (of OpenMP in it), filters (of the timeline), places (NUMA nodes in it), over_time (several runs over aligned iterations), groups (of ranks, and their strips), curves, cause_marks and annotations (of the timeline), large_page (a timeline that is larger than the page), durations (of calls and tasks of its selections), pixels_asked (of its filters and types of tasks), curves_asked (of states in it), counters (of its events), machine (its picture), live (what stays in a page that renews itself).
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , modules, chromium_path, file, shots, action] = process.argv;
const { chromium } = createRequire(modules + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: chromium_path, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ viewport: { width: 1440, height: 1350 }, offline: !file.startsWith("http://127.0.0.1:"), acceptDownloads: true });
const page = await context.newPage();
const problems = [], requests = [];
page.on("pageerror", (e) => problems.push(e.message));
page.on("console", (m) => { if (m.type() === "error") problems.push(m.text()); });
page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url()) && !(file.startsWith("http") && r.url().startsWith(file))) requests.push(r.url()); });

async function open(fragment = "") {
  await page.goto("about:blank");
  await page.goto((file.startsWith("http") ? file : "file://" + file) + fragment);
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  await page.waitForTimeout(150);
}
/** Processor time of all processes of Chromium, in ms. Other load on the machine changes it less than elapsed time. */
function processorTime() {
  const of = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, "latin1").replace(/^.*\) /s, "").split(" ");
      of.set(Number(entry), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch { /* it has ended */ }
  }
  let sum = 0;
  for (const [id, one] of of) {
    if (id === process.pid) continue;
    for (let at = id; of.has(at); at = of.get(at).parent) if (of.get(at).parent === process.pid) { sum += one.ticks * 10; break; }
  }
  return sum;
}
/** Frames a second while `step` (code with i and libprofile) is done before each one. */
async function frames(step, count = 120) {
  const from = processorTime();
  const seen = await page.evaluate(async ([code, n]) => {
    const go = new Function("i", "libprofile", code), times = [];
    for (let i = 0; i < n; ++i) {
      go(i, window.libprofile);
      await new Promise(requestAnimationFrame);
      times.push(performance.now());
    }
    const steps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
    return { fps: 1000 / (steps.reduce((a, b) => a + b, 0) / steps.length), median_ms: steps[steps.length >> 1], slowest_ms: steps[steps.length - 1] };
  }, [step, count]);
  return { ...seen, cpu_ms_per_frame: (processorTime() - from) / count };
}
const settle = () => page.waitForTimeout(400);

/** What the views show, from the objects that draw them. */
const state = () => page.evaluate(() => {
  const { data, profile, store } = window.libprofile, p = profile();
  const metrics = {};
  data.header.metrics.forEach((m, r) => (metrics[m.name] = p.untold() > 0 && m.name !== "time" ? null : p.total(r)));
  const ranks = Array.from(data.mainOfRank, (l) => (l < 0 ? 0 : p.inclusiveBy[l * data.nodes]));
  return { metrics, ranks, root: p.inclusive[0], exact: p.exact, row: store.state.row, link: store.link() };
});

async function saved(button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-export="${button}"]`)]);
  return readFileSync(await download.path());
}

/** The share of the pixels of an element that are not background, and the number of colours. */
const paint = (selector) => page.evaluate((s) => {
  const canvas = document.querySelector(s), g = canvas.getContext("2d");
  const { data } = g.getImageData(0, 0, canvas.width, canvas.height), colors = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = (data[i + 3] << 24) | (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    colors.set(key, (colors.get(key) ?? 0) + 1);
  }
  return { covered: 1 - (colors.get(0) ?? 0) / (data.length / 4), colors: colors.size };
}, selector);

const result = { problems, requests };
if (action === "numbers") {
  await open();
  result.words = await page.textContent("#findings");
  result.cards = await page.evaluate(() => [...document.querySelectorAll("#findings .finding")].map((card) => ({ title: card.querySelector("h2").textContent, text: card.textContent.replaceAll("\u202f", " ") })));
  result.job = await page.textContent("#job");
  result.spelled = await page.evaluate((list) => list.map(([unit, value]) => {
    const { quantity, percent } = window.libprofile.format;
    return (unit === "share" ? percent(value) : quantity(value, unit)).replaceAll("\u202f", " ");
  }), process.argv[7] ? JSON.parse(readFileSync(process.argv[7], "utf8")) : []);
  result.title = await page.textContent("#title");
  result.warning = await page.evaluate(() => (document.getElementById("incomplete").hidden ? "" : document.getElementById("incomplete").textContent));
  result.badge = await page.textContent("#badges");
  result.whole = await state();
  result.iterations = await page.evaluate(async () => {
    const { data, store } = window.libprofile, phase = store.state.phase;
    if (phase < 0) return null;
    const out = { name: data.header.phases[phase].name, maps: {} };
    for (const map of data.header.phases[phase].maps) {
      const s = await data.spread(phase, map), values = await data.values(phase, map), levels = await data.levels(phase, map);
      const n = data.header.phases[phase].iterations;
      let outside = 0;
      if (values) values.forEach((v, i) => { const l = levels[i]; if (v === 0 ? l !== 0 : l === 0 || v - 1 < map.bounds[l - 1] * 0.999999 - 1 || v - 1 > map.bounds[l] * 1.000001 + 1) ++outside; });
      out.maps[map.name] = { exact: map.exact, minimum: [...s.minimum], median: [...s.median], maximum: [...s.maximum], sum: [...s.sum], outside,
        values: values ? Array.from({ length: values.length / n }, (_, r) => [...values.subarray(r * n, (r + 1) * n)].map((v) => v - 1)) : null };
    }
    const clusters = await data.clusters(phase);
    out.clusters = Array.from(data.mainOfRank, (l) => (l < 0 ? [] : Array.from({ length: clusters.of[l].count - 1 }, (_, c) => [window.libprofile.clusterName(clusters, l, c), clusters.sizes[clusters.of[l].first + c]])));
    return out;
  });
  // All of a phase, a range of it, and ranks.
  if (result.iterations) {
    result.selected = {};
    for (const [name, a] of Object.entries({ phase: (p) => `${p}.0-0`, range: (p) => `${p}.10-20`, rank: () => "-1.0-0.1-2", rest: () => "-1.0-0.1-2.rest" })) {
      const phase = await page.evaluate(() => window.libprofile.store.state.phase);
      await open("#a=" + a(phase));
      result.selected[name] = await state();
      result.selected[name].says = await page.textContent("#accuracy");
    }
    // A link leads to the same state.
    await open("#" + result.selected.range.link);
    result.again = await state();
  }
  await open();
  result.tree = await page.evaluate(() => [...document.querySelectorAll("#metric-tree .row")].map((r) => ({ title: r.title, text: r.textContent })));
  result.csv = (await saved("metrics.csv")).toString();
  result.paths = (await saved("callpaths.csv")).toString();
} else if (action === "bottom_up") {
  // The rows by the names from the function up to its outermost caller.
  const rows = () => page.evaluate(() => {
    const { data, profile } = window.libprofile, up = data.bottomUp(), p = profile(), { kind, name } = data.header.nodes, out = {};
    for (let r = 0; r < up.parent.length; ++r) {
      const chain = [];
      for (let at = r; at >= 0; at = up.parent[at]) chain.unshift(up.node[at] === 0 ? "root (no call path)" : `${kind[up.node[at]]} ${name[up.node[at]]}`);
      if (up.own(r, p) !== 0 || up.inclusive(r, p) !== 0) out[chain.join(" < ")] = [up.own(r, p), up.inclusive(r, p)];
    }
    return { rows: out, total: p.inclusive[0] };
  });
  await open();
  await page.focus("#system-tree .tree-scroll");
  await page.keyboard.press("u");
  await page.keyboard.press("3");
  result.focused = await page.evaluate(() => document.activeElement.closest(".tree").id);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await settle();
  result.whole = await rows();
  result.shown = await page.evaluate(() => [...document.querySelectorAll("#function-tree .row")].map((r) => ({ level: Number(r.getAttribute("aria-level")), value: Number(r.dataset.value) })));
  result.hidden = await page.evaluate(() => document.getElementById("path-tree").offsetHeight);
  result.selected = await page.evaluate(() => {
    const { data, profile, store } = window.libprofile, up = data.bottomUp(), p = profile(), { caller } = store.state;
    return { own: up.own(caller, p), of_ranks: data.header.locations.rank.reduce((sum, _, l) => sum + up.ownAt(caller, p, l), 0), first: Number(document.querySelector("#system-tree .row").dataset.value) };
  });
  result.csv = (await saved("callpaths.csv")).toString();
  await page.screenshot({ path: `${shots}/bottom-up.png` });
  const link = await page.evaluate(() => window.libprofile.store.link());
  await open("#" + link);
  result.again = await page.evaluate(() => window.libprofile.store.link());
  result.link = link;
  const phase = await page.evaluate(() => window.libprofile.store.state.phase);
  await open(`#tree=up&a=-1.0-0.1-2`);
  result.rank = await rows();
  if (phase >= 0) {
    await open(`#tree=up&a=${phase}.0-0`);
    result.phase = await rows();
  }
} else if (action === "errors") {
  // How far own times of functions and their callers may be off, times of ranks, and differences of call paths; -1: not known.
  const rows = () => page.evaluate(() => {
    const { data, profile } = window.libprofile, up = data.bottomUp(), p = profile(), { kind, name } = data.header.nodes, out = {};
    for (let r = 0; r < up.parent.length; ++r) {
      const chain = [];
      for (let at = r; at >= 0; at = up.parent[at]) chain.unshift(up.node[at] === 0 ? "root (no call path)" : `${kind[up.node[at]]} ${name[up.node[at]]}`);
      const error = p.errorOf(up.calls[r], true);
      if (up.own(r, p) !== 0 || up.inclusive(r, p) !== 0) out[chain.join(" < ")] = [up.own(r, p), error === Infinity ? -1 : error];
    }
    return out;
  });
  await open();
  const phase = await page.evaluate(() => window.libprofile.store.state.phase), served = file.startsWith("http");
  const choose = async (fragment) => {
    await open("#tree=up" + fragment);
    if (served) await page.waitForFunction(() => { const { profile, other } = window.libprofile; return [profile(), other()].every((p) => !p || p.known || p.selection.phase < 0 || p.selection.to === 0); }, undefined, { timeout: 60000 });
    await settle();
  };
  for (const [part, fragment] of Object.entries({ whole: "", rank: "&a=-1.0-0.1-2", phase: `&a=${phase}.0-0`, range: `&a=${phase}.10-20`, long: `&a=${phase}.5-60.1-2`, one: `&a=${phase}.30-31` })) {
    await choose(fragment);
    result[part] = await rows();
  }
  await choose("");
  result.ranks = await page.evaluate(() => {
    const { data, profile, trees } = window.libprofile, p = profile();
    return Array.from(data.mainOfRank, (l) => Object.fromEntries(data.header.nodes.name.map((_, n) => [n, p.errorOf([n], true, l)]).filter(([, e]) => e > 0)));
  });
  await page.screenshot({ path: `${shots}/errors.png`, fullPage: true });
  await choose(`&a=${phase}.10-20&b=${phase}.40-60`);
  result.compared = await page.evaluate(() => {
    const { data, profile, other, errorOfDifference } = window.libprofile, { parent, name } = data.header.nodes, out = {};
    parent.forEach((_, n) => {
      const path = [];
      for (let at = n; at > 0; at = parent[at]) path.unshift(name[at]);
      const error = errorOfDifference(profile(), other(), [n], false);
      out[path.join(" > ")] = error === Infinity ? -1 : error;
    });
    return out;
  });
  result.said = await page.textContent("#accuracy");
  await page.screenshot({ path: `${shots}/errors-compared.png`, fullPage: true });
} else if (action === "lines") {
  // The lines of a function that the page shows, in the file or served, of the whole run and of a selection.
  const select = async (name) => {
    await page.evaluate((wanted) => {
      const { data, store } = window.libprofile;
      store.set({ node: data.header.nodes.name.findIndex((n, i) => n.split("::").at(-1) === wanted && /frame|inlined/.test(data.header.nodes.kind[i])) });
    }, name);
    await settle();
    return page.evaluate(() => ({
      function: document.getElementById("source-of").title,
      says: document.getElementById("source-remark").textContent.replaceAll("\u202f", " "),
      lines: [...document.querySelectorAll("#source tr[data-line]")].map((row) => [row.dataset.line, row.dataset.value, row.dataset.own].map(Number).concat(row.querySelector(".code").textContent)),
      plain: document.querySelectorAll("#source tr.plain").length,
    }));
  };
  await open();
  result.nothing = await page.textContent("#source-remark");
  const phase = await page.evaluate(() => window.libprofile.store.state.phase);
  for (const [part, fragment] of Object.entries({ whole: "", range: `#a=${phase}.10-20`, rank: `#a=-1.0-0.1-2`, others: `#a=-1.0-0.1-2.rest`, mpi: `#metric=mpi` })) {
    await open(fragment);
    result[part] = {};
    for (const name of ["advance", "exchange"]) result[part][name] = await select(name);
  }
  await page.keyboard.press("5");
  result.focused = await page.evaluate(() => document.activeElement.id);
  result.csv = (await saved("source.csv")).toString();
  await open(`#a=${phase}.10-20.rest`);
  result.rest = await select("advance");
  await page.screenshot({ path: `${shots}/source.png`, fullPage: true });
  // In a call of MPI the function that calls it.
  await open();
  result.of_call = await page.evaluate(async () => {
    const { data, store } = window.libprofile, { kind, name, parent } = data.header.nodes, n = kind.indexOf("mpi");
    store.set({ node: n });
    await new Promise((done) => setTimeout(done, 400));
    let above = parent[n];
    while (!/frame|inlined/.test(kind[above])) above = parent[above];
    return [name[above].split("::").at(-1), document.getElementById("source-of").textContent];
  });
} else if (action === "served") {
  await open();
  result.before = await page.evaluate(() => window.libprofile.data.header.phases[window.libprofile.store.state.phase].maps.map((m) => m.name));
  // A user chooses in the list.
  await page.selectOption("#map-metric", "mpi");
  await page.waitForFunction(() => window.libprofile.store.state.map === "mpi" && window.libprofile.timeline.loaded?.map.name === "mpi", undefined, { timeout: 60000 });
  await settle();
  await page.screenshot({ path: `${shots}/served-map.png` });
  result.mpi = await page.evaluate(async () => {
    const { data, store } = window.libprofile, phase = store.state.phase, map = data.map(phase, "mpi");
    const spread = await data.spread(phase, map), row = await data.row(phase, map, 1);
    return { name: data.header.phases[phase].name, sum: [...spread.sum], rank: [...row].map((v) => v - 1) };
  });
  result.timeline = await paint("#timeline canvas");
  // A link to a metric that is not in the page, and to a range.
  const phase = await page.evaluate(() => window.libprofile.store.state.phase);
  const name = await page.evaluate((p) => window.libprofile.data.header.phases[p].name, phase);
  for (const [key, a] of Object.entries({ range: `${phase}.10-20`, others: `${phase}.10-20.rest`, rank: `${phase}.10-20.1-2` })) {
    await open(`#phase=${encodeURIComponent(name)}&map=mpi&metric=mpi&a=${a.replace(".rest", "")}${a.endsWith(".rest") ? ".rest" : ""}`);
    await page.waitForFunction(() => window.libprofile.profile().known, undefined, { timeout: 60000 });
    await settle();
    result[key] = await state();
    result[key].map = await page.evaluate(() => window.libprofile.timeline.loaded.map.name);
    result[key].says = await page.textContent("#accuracy");
    result[key].bound = await page.evaluate(() => window.libprofile.profile().exclusiveError.reduce((sum, e) => sum + (e === Infinity ? 0 : e), 0));
    // Time of MPI functions by name, with its error bound.
    result[key].functions = await page.evaluate(() => {
      const { data, profile } = window.libprofile, p = profile(), out = {};
      data.header.nodes.kind.forEach((kind, n) => {
        if (kind !== "mpi" || p.exclusive[n] === 0) return;
        const one = (out[data.header.nodes.name[n]] ??= { value: 0, error: 0 });
        one.value += p.exclusive[n];
        one.error += Math.min(p.exclusiveError[n], 1e300);
      });
      return out;
    });
  }
  await open(`#phase=${encodeURIComponent(name)}&a=${phase}.10-20`);
  await page.waitForFunction(() => window.libprofile.profile().known, undefined, { timeout: 60000 });
  await settle();
  await page.screenshot({ path: `${shots}/served-range.png`, fullPage: true });
  // A browser that leaves the page tells the server; one that is killed does not.
  await page.goto("about:blank");
  await settle();
} else if (action === "looks") {
  const shot = async (name) => page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  await open("#theme=light");
  await shot("first");
  result.timeline = await paint("#timeline canvas");
  result.icicle = await paint("#icicle canvas");
  result.wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  // Dragging over the graph selects iterations.
  const box = await page.locator("#timeline canvas").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 70, { steps: 4 });
  await page.mouse.up();
  await settle();
  result.dragged = await page.evaluate(() => window.libprofile.store.state.a);
  result.fragment = await page.evaluate(() => location.hash);
  await page.click("#b-rest");
  await settle();
  await shot("compared");
  await page.keyboard.press("x");
  await page.keyboard.press("?");
  await page.keyboard.press("Escape");
  result.helpAfterEscape = await page.evaluate(() => document.getElementById("help").open);
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("mpi");
  await settle();
  result.matches = await page.locator("#path-tree .row.match").count();
  result.found = [await page.textContent("#found")];
  for (const key of ["Enter", "Enter", "Shift+Enter"]) {
    await page.keyboard.press(key);
    await settle();
    result.found.push(await page.textContent("#found"));
  }
  await page.keyboard.press("Escape");
  result.afterSearch = await page.evaluate(() => [document.activeElement.id, document.getElementById("search").value, document.getElementById("found").textContent]);
  // Input that makes no sense is refused, and the selection stays.
  await page.fill("#a-iterations", "2-3");
  await page.keyboard.press("Enter");
  result.typed = [];
  const state = () => page.evaluate(() => { const a = window.libprofile.store.state.a; return [a.from, a.to, document.getElementById("a-refused").textContent !== "", document.getElementById("a-iterations").hasAttribute("aria-invalid")]; });
  for (const text of ["2-3", "abc", "100000", "5-3", "1-3,7-9", "0"]) {
    await page.fill("#a-iterations", text);
    await page.keyboard.press("Enter");
    await settle();
    result.typed.push([text, ...await state()]);
  }
  await shot("refused");
  await page.click("#a-clear");
  result.cleared = await state();
  await page.focus("#path-tree .tree-scroll");
  await page.keyboard.press("Home");
  await page.keyboard.press("h");
  await settle();
  result.hot = await page.evaluate(() => window.libprofile.store.state.node);
  await shot("hot");
  await open("#theme=dark");
  await shot("dark");
  result.svg = (await saved("iterations.svg")).toString();
  result.icicle_svg = (await saved("icicle.svg")).toString().length;
  result.png = (await saved("iterations.png")).subarray(1, 4).toString();
  await page.setViewportSize({ width: 800, height: 900 });
  await settle();
  await shot("narrow");
  result.narrow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await open("#theme=light");
  await page.pdf({ path: `${shots}/print.pdf`, format: "A4", landscape: true, printBackground: true });
} else if (action === "untold") {
  await open();
  const phase = await page.evaluate(() => window.libprofile.store.state.phase);
  const rows = () => page.evaluate(() => [...document.querySelectorAll("#metric-tree .row")].map((row) => [...row.children].map((cell) => cell.textContent.trim())));
  await open(`#a=${phase}.3-6`);
  result.selected = { rows: await rows(), says: await page.textContent("#accuracy") };
  await open(`#a=${phase}.0-3&b=${phase}.3-6`);
  result.compared = { rows: await rows(), says: await page.textContent("#accuracy") };
  result.maps = await page.evaluate(async () => {
    const { data, store, timeline } = window.libprofile, said = {};
    for (const { name } of data.header.phases[store.state.phase].maps) {
      store.set({ map: name });
      await timeline.load();
      said[name] = [-1, 0].map((rank) => timeline.describe({ iteration: 3, rank, band: rank < 0 ? "graph" : "map" }));
    }
    return said;
  });
} else if (action === "groups") {
  await open();
  Object.assign(result, await page.evaluate(() => {
    const { groups } = window.libprofile.groups, { header } = groups, strips = {};
    const told = (strip) => strip.map((s) => [s.from, s.to, s.state < 0 ? null : header.states[s.state].name, s.ranks]);
    header.groups.forEach((one, g) => {
      for (const fold of ["dominating", "outliers", "use"]) strips[`${fold} ${one.name}`] = told(groups.folded(g, fold));
      one.rows.forEach((rank, n) => (strips[`rank ${rank}`] = told(groups.row(g, n))));
    });
    const { skew } = window.libprofile.groups, points = Array.from({ length: header.skew.points }, (_, p) => ({ ...skew.point(p), text: skew.describe(skew.point(p)) }));
    const cells = [...document.querySelectorAll("#merged tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
    return { points, merged: header.merged?.calls ?? [], merged_rows: cells, groups: header.groups.map(({ name, ranks, count, rows }) => ({ name, ranks, count, rows })), window: header.window, iterations: header.iterations, strips };
  }));
  result.listed = await page.evaluate(() => [...document.querySelectorAll("#groups-list button")].map((b) => b.innerText.replaceAll("\u202f", " ")));
  const selection = () => page.evaluate(() => {
    const { from, to, ranks, scattered } = window.libprofile.store.state.a;
    return { from, to, ranks: scattered ?? (ranks ? [ranks] : []) };
  });
  const lines = () => page.evaluate(() => document.querySelectorAll(".strip-line").length);
  result.lines = [await lines()];
  const last = page.locator("[data-unfold]").last();
  await last.click();
  result.lines.push(await lines());
  result.open = await last.getAttribute("aria-expanded");
  const strip = page.locator(".strip-line:not(.rank) canvas").last();
  await page.evaluate(() => document.getElementById("groups-skew").scrollIntoView({ block: "center" }));
  await settle();
  const box = await strip.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  result.readout = await page.textContent("#groups-readout");
  const chart = await page.locator("#groups-skew canvas").boundingBox();
  await page.mouse.move(chart.x + 78 + (chart.width - 78 - 96) / 2, chart.y + chart.height / 2);
  result.skew = await page.textContent("#groups-readout");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await settle();
  result.clicked = await selection();
  if (result.listed.length > 0) {
    await page.click("#groups-list button");
    await settle();
    result.chosen = await selection();
  }
  // Keys: the first strip, then the one below, part by part.
  const said = () => page.textContent("#groups-readout").then((text) => text.replaceAll("\u202f", " "));
  await page.locator(".strip-line canvas").first().focus();
  result.keys = { order: await page.evaluate(() => [...document.querySelectorAll(".strip-line canvas")].map((c) => c.tabIndex)), read: [] };
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowDown"]) {
    await page.keyboard.press(key);
    result.keys.read.push(await said());
  }
  result.keys.live = await page.getAttribute("#groups-readout", "aria-live");
  await page.keyboard.press("Enter");
  await settle();
  result.keys.entered = await selection();
  result.keys.skew_order = await page.evaluate(() => document.querySelector("#groups-skew canvas").tabIndex);
  await page.focus("#groups-skew canvas");
  await page.keyboard.press("ArrowRight");
  result.keys.skew = await said();
  result.svg = (await saved("groups.svg")).toString();
  result.png = (await saved("groups.png")).subarray(1, 4).toString();
  result.phase = await page.textContent("#groups-phase");
  const others = await page.evaluate(() => [...document.getElementById("phase").options].filter((o) => Number(o.value) !== window.libprofile.data.header.groups.phase).map((o) => [o.value, o.text]));
  if (others.length > 0) {
    await page.selectOption("#phase", others[0][0]);
    await settle();
    result.other = [others[0][1].replace(/ \(.*/, ""), await page.textContent("#groups-phase")];
    await page.selectOption("#phase", await page.evaluate(() => String(window.libprofile.data.header.groups.phase)));
    await settle();
  }
  await page.screenshot({ path: `${shots}/groups.png`, fullPage: true });
  await last.click();
  result.lines.push(await lines());
} else if (action === "live") {
  await open();
  const see = () => page.evaluate(() => {
    const { data, groups } = window.libprofile, $ = (id) => document.getElementById(id);
    return { snapshot: data.header.snapshot, iterations: data.header.groups.iterations, lines: document.querySelectorAll(".strip-line").length, fold: $("groups-fold").value,
             choices: $("groups-fold").options.length, merged: $("merged-section").open, end: groups.groups.folded(0, "use").at(-1).to };
  });
  await page.waitForFunction(() => document.querySelectorAll(".strip-line").length === 3, null, { timeout: 60000 }); // of all and of two groups
  await page.selectOption("#groups-fold", "use");
  await page.locator("[data-unfold]").last().click();
  await page.click("#merged-section summary");
  // The pointer rests on a strip, and the last button that unfolds has the focus; then the strip has it, read by keys.
  const focused = () => page.evaluate(() => {
    const e = document.activeElement, { groups } = window.libprofile.data.header;
    return [e.tagName, e.dataset.unfold ? groups.groups[Number(e.dataset.unfold)].name : e.getAttribute("aria-label")];
  });
  const later = async (by) => {
    const old = await page.evaluate(() => window.libprofile.data.header.snapshot);
    await page.waitForFunction((n) => window.libprofile.data.header.snapshot >= n, old + by, { timeout: 60000 });
    await settle();
  };
  await page.locator("[data-unfold]").last().focus();
  result.before = { ...(await see()), focused: await focused() };
  const place = () => page.locator(".strip-line:not(.rank) canvas").first().boundingBox();
  for (let moved = true; moved; ) { // a later state may have more to say above the strips
    const box = await place();
    await page.mouse.move(box.x + 40, box.y + box.height / 2);
    result.rests = await page.textContent("#groups-readout");
    await later(2);
    moved = Math.abs((await place()).y - box.y) > 2;
  }
  result.after = { ...(await see()), focused: await focused() };
  result.rested = await page.textContent("#groups-readout");
  await page.mouse.move(5, 5);
  await page.locator(".strip-line.rank canvas").last().focus();
  await page.keyboard.press("Home");
  result.read = [await focused(), await page.textContent("#groups-readout")];
  await later(1);
  result.read_later = [await focused(), await page.textContent("#groups-readout")];
} else if (action === "causes") {
  /** Exactly what is selected, with lists written out. */
  const selected = () => page.evaluate(() => {
    const { store, data } = window.libprofile, a = store.state.a, out = (spans) => spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i));
    return { iterations: a.phase < 0 ? [] : out(a.iterations ?? [[a.from, a.to]]), ranks: out(a.scattered ?? [a.ranks ?? [0, data.header.job.ranks]]) };
  });
  await open();
  /** Clicks on the mark of a cause that is in the middle of its iterations. */
  const lane = async (selector, cause) => {
    await page.evaluate((s) => document.querySelector(s).scrollIntoView({ block: "center" }), selector);
    await settle();
    const box = await page.locator(selector).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + 2 + cause * 12 + 5);
    await settle();
  };
  const clear = async () => { await page.click("#a-clear"); await settle(); };
  result.lists = [];
  result.marks = [];
  for (let cause = 0; cause < 3; ++cause) {
    await page.click(`[data-cause="${cause}"]`);
    await settle();
    result.lists.push(await selected());
    await clear();
    await lane("#strip canvas", cause);
    result.marks.push(await selected());
    await clear();
  }
  await lane("#timeline canvas", 0);
  result.timeline = await selected();
  result.text = await page.evaluate(() => document.querySelector("#causes li").innerText.replaceAll("\u202f", " "));
  result.expanded = await page.evaluate(() => [...document.querySelectorAll("[data-cause]")].map((b) => b.getAttribute("aria-expanded")));
  result.sum = await page.evaluate(() => window.libprofile.profile().instances);
  result.measured = (await selected()).iterations.length * (await selected()).ranks.length;
  // Pixels that are bright are exactly those of selected ranks and iterations.
  result.lit = await page.evaluate(async () => {
    const { strip, store } = window.libprofile, a = store.state.a;
    strip.picture.paint();
    const g = strip.picture.canvas.getContext("2d"), density = devicePixelRatio;
    let wrong = 0;
    strip.rows.forEach((row) => {
      const y = strip.top + (row.y + row.h / 2) * strip.height, rank = row.ranks[0], begins = strip.begins.get(a.phase);
      for (let i = 0; i < begins.counts[rank]; ++i) {
        const x0 = strip.xOf(begins.of(rank, i)), x1 = strip.xOf(begins.of(rank, i + 1));
        if (x1 - x0 < 3) continue; // a pixel at each end may be shared
        const alpha = g.getImageData(Math.floor(((x0 + x1) / 2) * density), Math.round(y * density), 1, 1).data[3];
        const inside = (s, v) => s.some(([from, to]) => v >= from && v < to);
        if (alpha > 200 !== (inside(a.iterations, i) && inside(a.scattered, rank))) ++wrong;
      }
    });
    return wrong;
  });
  await page.screenshot({ path: `${shots}/causes.png`, fullPage: true });
  const link = await page.evaluate(() => window.libprofile.store.link());
  await open("#" + link);
  result.linked = await selected();
  await page.click('[data-cause="0"]');
  await settle();
  result.closed = await selected();
  result.title = await page.title();
  result.notes = await page.textContent("#strip-notes");
  result.paint = await paint("#strip canvas");
  await page.evaluate(() => document.querySelector("#strip canvas").scrollIntoView({ block: "center" }));
  const box = await page.locator("#strip canvas").boundingBox();
  const y = await page.evaluate(() => { const { strip } = window.libprofile; return strip.top + (strip.rows[2].y + strip.rows[2].h / 2) * strip.height; });
  await page.mouse.move(box.x + box.width / 2, box.y + y);
  await settle();
  result.hover = await page.textContent("#strip-readout");
  await page.keyboard.press("6");
  for (const key of ["+", "+", "ArrowRight"]) await page.keyboard.press(key);
  result.keys = { zoomed: await page.evaluate(() => { const { store } = window.libprofile, t = store.state.time, w = store.wholeTime(); return t[0] > 0 && t[1] - t[0] < 0.6 * w[1]; }) };
  await page.keyboard.press("0");
  result.keys.whole = await page.evaluate(() => { const { store } = window.libprofile; return store.state.time[1] === store.wholeTime()[1]; });
} else if (action === "events") {
  await open();
  await page.evaluate(() => document.querySelector("#events canvas").scrollIntoView({ block: "center" }));
  const text = (id) => page.evaluate((i) => document.getElementById(i).textContent.replaceAll("\u202f", " "), id);
  const move = async (at) => {
    const box = await page.locator("#events canvas").boundingBox();
    await page.mouse.move(box.x + at.x, box.y + at.y);
    await page.waitForTimeout(150);
  };
  result.legend = await text("events-legend");
  result.notes = await text("events-notes");
  result.iterations = await page.evaluate(() => {
    const { store, events, data } = window.libprofile, { rows } = events.timeline.events, list = [];
    const both = rows[0].parts.number.length ? Array.from(rows[0].parts.number.keys()).filter((p) => rows[0].parts.phase[p] >= 0) : [];
    for (const p of both.slice(0, 60)) {
      const span = { phase: rows[0].parts.phase[p], number: rows[0].parts.number[p] };
      store.set({ eventSpan: span });
      const shares = events.shares(), matrix = {};
      if (shares.summed.some((ns) => ns > 0)) continue; // the other rank has no events of it
      shares.matrix?.ranks.forEach((from, i) => shares.matrix.ranks.forEach((to, k) => (matrix[`${from} ${to}`] = shares.matrix.bytes[i * shares.matrix.ranks.length + k])));
      list.push({ ...span, states: Object.fromEntries(data.header.events.states.map((state, s) => [state.key, shares.states[s]])), matrix, parallelism: shares.parallelism });
    }
    store.set({ eventSpan: list.length > 0 ? { phase: list.at(-1).phase, number: list.at(-1).number } : null });
    return list;
  });
  result.series = await page.evaluate(() => {
    const { store, events, data } = window.libprofile, before = store.state.eventSpan, list = () => events.series().map(({ places, ...series }) => series);
    const ofIteration = list();
    store.set({ eventSpan: { from: 0, to: data.header.events.end } });
    const ofAll = list();
    store.set({ eventSpan: before });
    return { ofAll, ofIteration, number: before?.number };
  });
  result.csv = (await saved("events.csv")).toString();
  result.svg = (await saved("events.svg")).toString().slice(0, 200);
  result.png = (await saved("events.png")).toString("latin1").slice(1, 4);
  result.unkept = await page.evaluate(() => {
    const { data, events } = window.libprofile, n = data.header.events.states.length;
    return events.timeline.events.rows.flatMap(({ rank, stretches: s }) => Array.from(s.begin.keys(), (i) => ({ rank, phase: s.phase[i], number: s.first[i], sums: Array.from(s.sums.slice(i * n, (i + 1) * n)) })));
  });
  result.modes = {};
  for (const mode of ["kind", "duration", "state"]) {
    await page.selectOption("#events-mode", mode);
    await settle();
    result.modes[mode] = await paint("#events canvas");
    await page.screenshot({ path: `${shots}/events-${mode}${result.unkept.length > 0 ? "-few" : ""}.png`, fullPage: true });
  }
  /** Shows a stretch of a row, and where its middle is. */
  const show = (row, list, i) => page.evaluate(([r, name, k]) => {
    const { store, events } = window.libprofile, { timeline } = events, one = timeline.events.rows[r], [from, to] = [one.place(one[name].begin[k]), one.place(one[name].end[k])];
    store.set({ moment: store.clampedMoment([from - (to - from) / 2, to + (to - from) / 2]) });
    return { x: Math.round(timeline.xOf((from + to) / 2)), y: Math.round(timeline.middleOf(r)) };
  }, [row, list, i]);
  if (result.unkept.length > 0) {
    const at = await show(0, "stretches", await page.evaluate(() => Math.floor(window.libprofile.events.timeline.events.rows[0].stretches.begin.length / 2)));
    await settle();
    result.striped = await page.evaluate(({ x, y }) => {
      const canvas = document.querySelector("#events canvas"), scale = canvas.width / canvas.clientWidth, g = canvas.getContext("2d");
      const { data } = g.getImageData((x + 3) * scale, (y - 14) * scale, 1, 28 * scale), colors = new Set();
      for (let i = 0; i < data.length; i += 4) colors.add(data.slice(i, i + 4).join());
      return { alpha: data[3], heights: colors.size };
    }, at);
    await move(at);
    result.striped.text = await text("events-readout");
  } else {
    const p = await page.evaluate(() => { const { parts } = window.libprofile.events.timeline.events.rows[1]; return [...parts.phase.keys()].filter((k) => parts.phase[k] >= 0).at(-4); });
    await show(1, "parts", p);
    await settle();
    // The longest call of it.
    const at = await page.evaluate((k) => {
      const { timeline } = window.libprofile.events, row = timeline.events.rows[1], { calls, parts, states } = row;
      let best = -1, most = 0;
      for (let i = 0; i < states.count; ++i) {
        const length = states.begins[i + 1] - states.begins[i];
        if (states.isCall(i) && states.begins[i] >= parts.begin[k] && states.begins[i + 1] <= parts.end[k] && length > most) [best, most] = [i, length];
      }
      const node = calls.node[states.owner[best]], name = window.libprofile.data.header.nodes.name[node];
      return { x: timeline.xOf(row.place(states.begins[best] + most / 2)), y: timeline.middleOf(1), node, function: name, rank: row.rank };
    }, p);
    await move(at);
    result.hovered = { ...at, text: await text("events-readout") };
    await page.mouse.down();
    await page.mouse.up();
    await settle();
    result.hovered.clicked = await page.evaluate(() => window.libprofile.store.state.node);
    result.messages = await page.evaluate(() => { const { timeline } = window.libprofile.events, [t0, t1] = window.libprofile.store.state.moment; const { sent, received } = timeline.events.messages; return sent.filter((ns, m) => ns < t1 && received[m] > t0).length; });
    await page.screenshot({ path: `${shots}/events-iteration.png`, fullPage: true });
    const shown = () => page.evaluate(() => { const { moment, eventSpan, eventMode, node } = window.libprofile.store.state; return { moment: moment.map(Math.round), eventSpan, eventMode, node }; });
    result.before = await shown();
    await open("#" + await page.evaluate(() => window.libprofile.store.link()));
    result.again = await shown();
    await page.focus("#events canvas");
    const width = async () => { const { moment } = await shown(); return moment[1] - moment[0]; }, begin = async () => (await shown()).moment[0];
    const keys = { first: await width() };
    await page.keyboard.press("w"); keys.w = await width();
    await page.keyboard.press("s"); keys.s = await width();
    await page.keyboard.press("a"); keys.a = await begin();
    await page.keyboard.press("d"); await page.keyboard.press("d"); keys.d = await begin();
    await page.keyboard.press("Shift+ArrowRight"); keys.read = await text("events-readout");
    await page.keyboard.press("Shift+ArrowRight"); keys.read_next = await text("events-readout");
    await page.keyboard.press("ArrowDown"); keys.read_down = await text("events-readout");
    await page.keyboard.press("0"); keys.all = await width();
    keys.whole = await page.evaluate(() => Math.round(window.libprofile.store.wholeMoment()[1]));
    result.keys = keys;
  }
} else if (action === "tasks" || action === "filters") {
  await open();
  await page.evaluate(() => document.querySelector("#events canvas").scrollIntoView({ block: "center" }));
  const text = (id) => page.evaluate((i) => document.getElementById(i).textContent.replaceAll("\u202f", " "), id);
  const set = async (state) => { await page.evaluate((s) => window.libprofile.store.set(s), state); await settle(); };
  /** Of the selection. */
  const durations = () => page.evaluate(() => {
    const { events, data } = window.libprofile, { tasks, calls } = events.durations(), shares = events.shares();
    const plain = ({ name, count, durations, total, mean, median, least, most, stolen }) => ({ name, count, durations: Array.from(durations), total, mean, median, least, most, stolen });
    return {
      tasks: tasks.map(plain), calls: calls.map(plain),
      shares: !shares ? null : { states: Object.fromEntries(data.header.events.states.map(({ key }, s) => [key, shares.states[s]])), parallelism: shares.parallelism, length: shares.to - shares.from },
    };
  });
  const whole = await page.evaluate(() => { const [from, to] = window.libprofile.store.wholeMoment(); return { from, to: to + 10 }; }); // the axis is rounded
  await set({ eventSpan: whole });
  if (action === "tasks") {
    result.all = await durations();
    result.all.histogram = await page.evaluate(() => Array.from(document.querySelector("#events-durations .histogram").querySelectorAll("title"), (t) => Number(/: ([\d,]+) task/.exec(t.textContent)[1].replaceAll(",", ""))));
    result.tasks = await page.evaluate(() => {
      const { tasks, rows } = window.libprofile.events.timeline.events, kinds = ["", "in", "out", "inout", "mutexinoutset", "inoutset"];
      return Array.from({ length: tasks.count }, (_, t) => {
        const [first, end] = tasks.runs(t);
        return {
          number: tasks.number[t], thread: rows[tasks.row[t]].thread, created: tasks.created[t], creator: tasks.creator[t] < 0 ? 0 : tasks.number[tasks.creator[t]],
          runs: Array.from({ length: end - first }, (_, i) => [rows[tasks.runRow[first + i]].calls.begin[tasks.runCall[first + i]], rows[tasks.runRow[first + i]].calls.end[tasks.runCall[first + i]], rows[tasks.runRow[first + i]].thread]),
          needs: Array.from({ length: tasks.firstDependence[t + 1] - tasks.firstDependence[t] }, (_, i) => [kinds[tasks.kinds[tasks.firstDependence[t] + i]], tasks.addresses[tasks.firstDependence[t] + i]]),
        };
      });
    });
    const iteration = await page.evaluate(() => { const { phase, number } = window.libprofile.events.timeline.events.rows[0].parts; return phase[0] >= 0 ? { phase: phase[0], number: number[0] } : null; });
    if (iteration) {
      await set({ eventSpan: iteration });
      result.iteration = await durations();
    }
    // A task with a dependence, in the picture.
    const at = await page.evaluate(() => {
      const { store, events, data } = window.libprofile, { timeline } = events, { tasks, rows } = timeline.events;
      const nodeOf = (i) => [rows[tasks.runRow[tasks.firstRun[i]]].calls.node[tasks.runCall[tasks.firstRun[i]]], tasks.node[i]].find((n) => ["frame", "inlined"].includes(data.header.nodes.kind[n]));
      const some = Array.from({ length: tasks.count }, (_, i) => i).filter((i) => tasks.firstDependence[i + 1] > tasks.firstDependence[i] && tasks.firstRun[i + 1] === tasks.firstRun[i] + 1);
      const t = some.find(nodeOf) ?? some[0];
      if (t === undefined) return null;
      const r = tasks.runRow[tasks.firstRun[t]], row = rows[r], call = tasks.runCall[tasks.firstRun[t]], begin = row.place(row.calls.begin[call]), end = row.place(row.calls.end[call]);
      store.set({ moment: store.clampedMoment([begin - 2 * (end - begin), end + 2 * (end - begin)]) });
      const { function: name, source } = data.header.events.types[tasks.type[t]];
      return { x: timeline.xOf((begin + end) / 2), y: timeline.middleOf(r), number: tasks.number[t], type: `${name} ${source}`, need: "0x" + tasks.addresses[tasks.firstDependence[t]].toString(16), node: nodeOf(t) };
    });
    if (at) {
      await settle();
      const box = await page.locator("#events canvas").boundingBox();
      await page.mouse.move(box.x + at.x, box.y + at.y);
      await page.waitForTimeout(150);
      result.pointed = { ...at, text: await text("events-readout") };
      await page.mouse.down();
      await page.mouse.up();
      await settle();
      result.pointed.clicked = await page.evaluate(() => window.libprofile.store.state.task);
      result.pointed.facts = await text("events-task");
      await set({ node: 0 });
      if (at.node) await page.click("#events-task [data-node]");
      result.pointed.source = await page.evaluate(() => window.libprofile.store.state.node);
    }
    await set({ eventMode: "type", eventSpan: { from: Math.round(whole.to / 2), to: Math.round(whole.to) } });
    const shown = () => page.evaluate(() => { const { eventMode, eventSpan, task } = window.libprofile.store.state; return { eventMode, eventSpan, task, facts: document.getElementById("events-task").textContent }; });
    result.before = await shown();
    await open("#" + await page.evaluate(() => window.libprofile.store.link()));
    result.again = await shown();
    await set({ task: null });
    result.modes = {};
    for (const mode of ["type", "task_duration", "state"]) {
      await page.selectOption("#events-mode", mode);
      await settle();
      result.modes[mode] = await paint("#events canvas");
      await page.screenshot({ path: `${shots}/tasks-${mode}.png`, fullPage: true });
    }
    const lines = async () => (await saved("events.svg")).toString().split("<polyline").length + (await saved("events.svg")).toString().split("<path").length;
    // Few enough.
    await set({ eventSpan: null, moment: await page.evaluate(() => { const { tasks, rows } = window.libprofile.events.timeline.events, t = Math.floor(tasks.count / 2), at = rows[tasks.row[t]].place(tasks.created[t]); return [at - 20000, at + 20000]; }) });
    result.lines = { without: await lines() };
    await set({ eventSpan: whole });
    result.lines.with = await lines();
  } else {
    /** Pixels of rows in full colour, as the CSV and the numbers under a filter. */
    const under = async (filter) => {
      await set({ eventFilter: { kind: "", text: "", inside: "", from: 0, to: Infinity, ranks: "", ...filter } });
      const found = await durations(), csv = (await saved("events.csv")).toString();
      const opaque = await page.evaluate(() => {
        const { timeline } = window.libprofile.events, canvas = document.querySelector("#events canvas"), scale = canvas.width / canvas.clientWidth, g = canvas.getContext("2d");
        let n = 0;
        timeline.shownRows.forEach((_, r) => {
          const y = Math.round((timeline.middleOf(r) - timeline.rowHeight * 0.3) * scale), { data } = g.getImageData(80 * scale, y, Math.floor(timeline.width - 4) * scale, 1);
          for (let i = 3; i < data.length; i += 4) n += data[i] === 255 ? 1 : 0;
        });
        return n;
      });
      return { tasks: found.tasks, calls: found.calls, shares: Object.fromEntries(Object.entries(found.shares?.states ?? {}).filter(([, ns]) => ns > 0)), csv, opaque };
    };
    result.none = await under({});
    result.text = result.none.tasks[0].name.split(" ")[0].toLowerCase();
    const all = result.none.tasks.flatMap((one) => one.durations).sort((a, b) => a - b);
    result.limits = [all[Math.floor(all.length * 0.4)], all[Math.floor(all.length * 0.9)]];
    for (const kind of ["tasks", "calls", "regions"]) result[kind] = await under({ kind });
    result.by_text = await under({ text: result.text });
    result.by_duration = await under({ kind: "tasks", from: result.limits[0], to: result.limits[1] });
    result.by_caller = await under({ inside: "NESTED" });
    result.rank = await under({ ranks: "0" });
    result.no_rank = await under({ ranks: "5-9" });
    result.thread = await under({ threads: "1-2" });
    await page.screenshot({ path: `${shots}/filters.png`, fullPage: true });
    await page.click("#events-filter button");
    await page.selectOption("#events-filter-only", "tasks");
    await page.fill("#events-filter-with", result.text);
    result.refused = {};
    for (const [name, ...typed] of [["crossed", ["from", "2 ms"], ["to", "1.5 ms"]], ["list", ["to", ""], ["ranks", "7-4"]], ["time", ["ranks", ""], ["from", "soon"]], ["right", ["from", "3 us"]]]) {
      let before = "";
      for (const [id, value] of typed) {
        before = await page.evaluate(() => window.libprofile.store.link());
        await page.fill(`#events-filter-${id}`, value);
        await page.press(`#events-filter-${id}`, "Enter");
      }
      result.refused[name] = await page.evaluate((b) => ({
        text: document.querySelector("#events-filter .refused").textContent,
        invalid: [...document.querySelectorAll("#events-filter input")].map((i) => i.getAttribute("aria-invalid")).filter((value) => value === "true"),
        unchanged: b === window.libprofile.store.link(),
      }), before);
    }
    for (const [id, value] of [["from", "1.5us"], ["to", "2 s"], ["ranks", "0, 3-7"]]) {
      await page.fill(`#events-filter-${id}`, value);
      await page.press(`#events-filter-${id}`, "Enter");
    }
    await settle();
    const shown = () => page.evaluate(() => ({ ...window.libprofile.store.state.eventFilter }));
    result.before = await shown();
    await open("#" + await page.evaluate(() => window.libprofile.store.link()));
    result.again = await shown();
    const again = await page.evaluate(() => window.libprofile.store.link());
    await open("#filter=" + encodeURIComponent("from=9&to=3&threads=x&on=4-2"));
    result.hostile = await shown();
    await open("#" + again);
    result.inputs = await page.evaluate(() => Object.fromEntries([["kind", "only"], ["text", "with"], ["from", "from"], ["to", "to"], ["ranks", "ranks"]].map(([name, id]) => [name, document.getElementById(`events-filter-${id}`).value])));
  }
} else if (action === "curves") {
  await (await import("./overlays.mjs")).curves({ page, open, settle, saved, shots, result });
} else if (action === "machine") {
  await open();
  const shown = () => page.evaluate(() => ({ hidden: document.getElementById("machine-section").hidden, texts: [...document.querySelectorAll("#machine svg text")].map((t) => t.textContent) }));
  Object.assign(result, await shown());
  if (!result.hidden) {
    result.saved = (await saved("machine.svg")).toString();
    result.width = await page.evaluate(() => document.querySelector("#machine svg").clientWidth);
    for (const theme of ["light", "dark"]) {
      await page.evaluate((t) => window.libprofile.store.set({ theme: t }), theme);
      await (await page.$("#machine-section")).screenshot({ path: `${shots}/machine-${theme}.png` });
    }
  }
} else if (action === "places") {
  await (await import("./places.mjs")).places({ page, open, settle, saved, shots, result });
} else if (action === "annotations") {
  await (await import("./overlays.mjs")).annotations({ page, open, settle, shots, result });
} else if (action === "durations") {
  await (await import("./large_page.mjs")).durationsOf({ page, open, settle, shots, result });
} else if (action === "curves_asked") {
  await (await import("./large_page.mjs")).curvesAsked({ page, open, settle, shots, result });
} else if (action === "pixels_asked") {
  await (await import("./large_page.mjs")).pixelsAsked({ page, open, settle, shots, result });
} else if (action === "large_page") {
  await (await import("./large_page.mjs")).largePage({ page, open, settle, shots, result, file });
} else if (action === "timeline_speed") {
  await (await import("./large_page.mjs")).timelineSpeed({ page, open, frames, shots, result });
} else if (action === "counters") {
  await (await import("./counters.mjs")).counters({ page, open, settle, shots, result });
} else if (action === "cause_marks") {
  await (await import("./overlays.mjs")).causeMarks({ page, open, settle, paint, shots, result });
} else if (action === "strip") {
  await open();
  Object.assign(result, await page.evaluate(() => {
    const { strip } = window.libprofile.data.header;
    return { begin: strip.begin, end: strip.end, names: strip.tree.name, times: strip.tree.time, significant: strip.significant, clusters: strip.clusters };
  }));
  result.causes = [];
  const causes = await page.evaluate(() => window.libprofile.data.header.causes.list.length);
  for (let cause = 0; cause < causes; ++cause) {
    await page.click(`[data-cause="${cause}"]`);
    await settle();
    result.causes.push(await page.evaluate((c) => {
      const { store, data } = window.libprofile, a = store.state.a, out = (spans) => spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i));
      return { sentence: data.header.causes.list[c].sentence, selected: { iterations: a.phase < 0 ? [] : out(a.iterations ?? [[a.from, a.to]]), ranks: out(a.scattered ?? [a.ranks ?? [0, data.header.job.ranks]]) } };
    }, cause));
  }
  await page.screenshot({ path: `${shots}/strip.png`, fullPage: true });
  result.depths = [];
  const deepest = await page.evaluate(() => window.libprofile.strip.contexts.deepest);
  for (const depth of [-1, 1, Math.min(3, deepest), deepest]) {
    await page.selectOption("#strip-depth", String(depth));
    await settle();
    result.depths.push(await paint("#strip canvas"));
  }
  const ranksInOrder = await page.evaluate(() => { window.libprofile.store.set({ rows: "clusters", depth: 2 }); return window.libprofile.strip.rows.map((row) => row.h * window.libprofile.strip.rows.length); });
  result.heights = ranksInOrder.map((h) => +h.toFixed(6));
  await page.selectOption("#strip-rows", "ranks");
  await settle();
  await page.evaluate(() => document.querySelector("#strip canvas").scrollIntoView({ block: "center" }));
  const at = await page.evaluate(() => {
    const { strip, data } = window.libprofile, row = strip.rows.find((r) => r.ranks[0] === 1), ns = strip.timeAt(78 + 0.6 * strip.width);
    return { x: strip.xOf(ns), y: strip.top + (row.y + row.h / 2) * strip.height, wanted: data.header.strip.tree.node[strip.contextAt(row, ns)] };
  });
  const box = await page.locator("#strip canvas").boundingBox();
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await settle();
  result.clicked = await page.evaluate((wanted) => {
    const { store } = window.libprofile, { a, node } = store.state;
    return { node, wanted, ranks: Array.from({ length: a.ranks[1] - a.ranks[0] }, (_, i) => a.ranks[0] + i), iterations: a.to - a.from };
  }, at.wanted);
  const kept = () => page.evaluate(() => { const { depth, rows, time, cause, a } = window.libprofile.store.state; return { depth, rows, time: time.map(Math.round), cause, a }; });
  await page.evaluate(() => { const { store } = window.libprofile; store.set({ depth: 2, time: store.clampedTime([1e7, 9e7]) }); });
  await settle();
  result.before = await kept();
  await open("#" + await page.evaluate(() => window.libprofile.store.link()));
  result.again = await kept();
  await open("#theme=dark");
  await page.screenshot({ path: `${shots}/strip-dark.png` });
} else if (action === "regions") {
  await open();
  result.rows = await page.evaluate(() => [...document.querySelectorAll("#regions tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  result.maps = await page.evaluate(async () => {
    const { data, store } = window.libprofile, maps = {};
    for (const map of data.header.phases[store.state.phase].maps)
      if (map.name.startsWith("region:")) maps[map.name] = { exact: map.exact, sum: Array.from((await data.spread(store.state.phase, map)).sum) };
    return maps;
  });
  await page.click("#regions button:enabled");
  await settle();
  result.chosen = await page.evaluate(() => ({ map: window.libprofile.store.state.map, listed: document.getElementById("map-metric").value }));
  await page.screenshot({ path: `${shots}/regions.png`, fullPage: true });
} else if (action === "deviations") {
  // By metric: levels, sentences and the list of the map that shows deviations from the median rank.
  const shown = (cells) => page.waitForFunction(() => document.getElementById("hot-runs-list").ariaBusy !== "true").then(() => page.evaluate((list) => {
    const { timeline, data, store } = window.libprofile, { imbalance, ripmap, colors } = timeline.loaded, n = data.header.phases[store.state.phase].iterations, { ranks } = data.header.job;
    if (!imbalance) return null;
    const { levels, limit } = imbalance.deviations, pixel = new Uint32Array(1);
    ripmap.draw(pixel, 1, 1, 0, n, 0, ranks, colors, { left: 0, top: 0, right: 1, bottom: 1 });
    return {
      limit, runs: imbalance.hottest, hottest_is_seen: pixel[0] === colors[levels.reduce((x, y) => Math.max(x, y), 0)],
      levels: list.map(([rank, i]) => levels[rank * n + i]),
      said: list.map(([rank, iteration]) => timeline.describe({ iteration, rank, band: "map" }).replaceAll("\u202f", " ")),
      listed: [...document.querySelectorAll("#hot-runs-list button")].map((b) => b.textContent.replaceAll("\u202f", " ")),
      functions: [...document.querySelectorAll("#hot-runs-list button")].map((b) => b.querySelector("[id^=hot-function] b")?.textContent),
    };
  }, cells));
  const cells = JSON.parse(readFileSync(process.argv[7], "utf8")), seen = (name) => page.waitForFunction((n) => window.libprofile.timeline.loaded?.map.name === n, name);
  await open();
  result.before = await page.evaluate(() => [window.libprofile.timeline.loaded.imbalance, document.getElementById("hot-runs").hidden]);
  // By keys: the list of what is shown follows that of the metrics.
  await page.focus("#map-metric");
  await page.keyboard.press("Tab");
  result.focused = await page.evaluate(() => document.activeElement.id);
  await page.keyboard.press("ArrowDown");
  await settle();
  result.metrics = {};
  for (const name of ["iteration_time", "mpi"]) {
    if (!(await page.locator(`#map-metric option[value="${name}"]:enabled`).count())) continue;
    await page.selectOption("#map-metric", name);
    await seen(name);
    await settle();
    result.metrics[name] = await shown(cells);
    await page.locator("#iterations").screenshot({ path: `${shots}/deviations-${name}.png` });
  }
  const first = page.locator("#hot-runs-list button").first();
  if (await first.count()) {
    await first.focus();
    await page.keyboard.press("Enter");
    await settle();
    result.selected = await page.evaluate(() => window.libprofile.store.state.a);
    result.pressed = await page.evaluate(() => [...document.querySelectorAll("#hot-runs-list button")].map((b) => b.getAttribute("aria-pressed")));
  }
  const link = await page.evaluate(() => window.libprofile.store.link());
  result.link = link;
  await open("#" + link);
  result.again = await shown(cells);
  await open("#" + link + "&theme=dark");
  await page.locator("#iterations").screenshot({ path: `${shots}/deviations-dark.png` });
  // Counts have no deviation; the choice is kept for the next time.
  if (await page.locator('#map-metric option[value="visits"]').count()) {
    await page.selectOption("#map-metric", "visits");
    await seen("visits");
    await settle();
    result.counts = [await shown(cells), await page.isDisabled("#measure"), await page.evaluate(() => document.getElementById("hot-runs").hidden)];
    await page.click("#a-clear"); // the list that is away must not mind
  }
} else if (action === "side") {
  await open();
  result.head = (await page.textContent("#side-heads")).replaceAll("\u202f", " ");
  result.trees = await page.evaluate(() => Object.fromEntries(Object.entries(window.libprofile.trees).map(([name, t]) => [name, {
    rows: Array.from(t.parent, (parent, row) => ({ parent, name: t.name(row), full: t.fullName(row), place: t.place(row), values: t.values.map((v) => v[row]), errors: t.errors.map((e) => (Number.isNaN(e[row]) ? null : e[row])) })),
    left_out: t.leftOut,
  }])));
  const shown = (tree) => page.evaluate((id) => [...document.querySelectorAll(`#${id} .row`)].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((r) => ({
    row: Number(r.dataset.node), level: Number(r.getAttribute("aria-level")), title: r.title, cells: [...r.children].map((c) => c.textContent.replaceAll("\u202f", " ")), signs: [...r.querySelectorAll(".c-difference")].map((c) => c.className.split(" ")[1]) })), tree);
  result.first = await shown("side-paths");
  result.kinds = await shown("side-places");
  result.ranks = await shown("side-ranks");
  result.colors = await page.evaluate(() => {
    const of = (sign) => { const e = document.createElement("span"); e.className = "c-difference " + sign; document.querySelector("#side-paths .tree-inner").append(e); const color = getComputedStyle(e).color; e.remove(); return color; };
    return [of("more"), of("less"), of("chance"), getComputedStyle(document.querySelector("#side-paths .row .c-name")).color];
  });
  await page.screenshot({ path: `${shots}/side.png`, fullPage: true });
  await page.selectOption("#side-direction", "callers");
  await settle();
  result.callers = await shown("side-paths");
  await page.selectOption("#side-order", "value");
  await settle();
  result.by_value = await shown("side-paths");
  await page.fill("#side-search", result.by_value[0].cells[0].replace(/^[▾▸]/, "").split(" ")[0]);
  result.found = await page.textContent("#side-found");
  await page.click("#side-next");
  result.next = await page.textContent("#side-found");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#side-paths-csv")]);
  result.csv = readFileSync(await download.path()).toString();
  await page.click("#theme");
  await page.screenshot({ path: `${shots}/side-dark.png`, fullPage: true });
  await page.setViewportSize({ width: 900, height: 900 });
  await settle();
  result.narrow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
} else if (action === "over_time") {
  await open();
  const plain = (text) => text.replaceAll("\u202f", " ");
  /** All that the section has of the group that is chosen. */
  const shown = () => page.evaluate(() => {
    const text = (e) => e.textContent.replaceAll("\u202f", " "), { aligned } = window.libprofile.overTime;
    return {
      body: !document.getElementById("over-time-body").hidden, tools: !document.getElementById("over-time-tools").hidden, said: text(document.getElementById("over-time-head")),
      notes: text(document.getElementById("over-time-notes")), window: aligned?.header.window, places: aligned?.header.places,
      parts: aligned ? Array.from({ length: aligned.points }, (_, p) => aligned.part(p, p + 1)) : [],
      segments: aligned?.header.segments ?? [],
      listed: [...document.querySelectorAll("#over-time-segments > li")].map((li) => ({
        head: text(li.querySelector("button")), open: li.querySelector("button").ariaExpanded === "true" && !li.querySelector("div").hidden,
        lines: [...li.querySelectorAll(".differences tr")].map((row) => [...row.cells].map(text)),
        functions: [...li.querySelectorAll(".over-time-functions tbody tr")].map((row) => [...row.cells].map(text)) })),
    };
  });
  result.trees = await page.evaluate(() => Object.fromEntries(Object.entries(window.libprofile.trees).map(([name, t]) => [name, t.parent.length])));
  result.choices = await page.evaluate(() => [...document.getElementById("over-time-group").options].map((o) => o.text));
  result.absent = await shown();
  result.groups = [];
  for (const name of result.choices) {
    if (result.choices.length > 1) await page.selectOption("#over-time-group", { label: name });
    await settle();
    result.groups.push(await shown());
  }
  if (result.choices.length > 1) await page.selectOption("#over-time-group", { label: result.choices[0] });
  await settle();
  const canvas = page.locator("#over-time-picture canvas");
  if (result.groups[0]?.body) {
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox(), readout = async () => plain(await page.textContent("#over-time-readout"));
    const xOf = (place) => page.evaluate((p) => window.libprofile.overTime.picture.view.xOf(p), place);
    const zoom = () => page.evaluate(() => window.libprofile.overTime.picture.view.zoom);
    const selected = () => page.evaluate(() => window.libprofile.overTime.picture.selected);
    result.painted = await paint("#over-time-picture canvas");
    // The pointer reads the place that it is at.
    result.read = [];
    for (const place of [0, Math.floor(result.groups[0].places / 2), result.groups[0].places - 1]) {
      await page.mouse.move(box.x + (await xOf(place + 0.5)), box.y + 120);
      result.read.push([place, await readout()]);
    }
    await page.mouse.move(box.x + 5, box.y + 120);
    result.unread = await readout();
    // A click on a segment selects it, another one ends that; a drag moves and selects nothing.
    const { from, to } = result.groups[0].segments.reduce((most, one) => (one.total > most.total ? one : most));
    const middle = await xOf((from + to) / 2);
    await page.mouse.click(box.x + middle, box.y + 10);
    await settle();
    result.clicked = [await selected(), (await shown()).listed.map((one) => one.open)];
    result.link = await page.evaluate(() => location.hash);
    const download = async (id) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click("#" + id)]);
      return readFileSync(await file.path());
    };
    result.svg = (await download("over-time-svg")).toString();
    result.png = (await download("over-time-png")).subarray(1, 4).toString();
    result.csv = (await download("over-time-csv")).toString();
    await page.locator("#over-time").screenshot({ path: `${shots}/over-time.png` });
    await page.mouse.click(box.x + middle, box.y + 120);
    await settle();
    result.clicked.push(await selected());
    // Keys.
    await canvas.focus();
    for (const key of ["+", "+", "+", "+"]) await page.keyboard.press(key);
    result.keys = { zoomed: await zoom() };
    await page.keyboard.press("ArrowRight");
    result.keys.moved = await zoom();
    await page.keyboard.press("Shift+ArrowRight");
    result.keys.first = [await readout(), await page.getAttribute("#over-time-readout", "aria-live"), await page.evaluate(() => window.libprofile.overTime.picture.point)];
    await page.keyboard.press("Shift+ArrowRight");
    result.keys.next = [await readout(), await page.evaluate(() => window.libprofile.overTime.picture.point)];
    await page.keyboard.press("Enter");
    result.keys.entered = await selected();
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    result.keys.down = await selected();
    await page.keyboard.press("0");
    result.keys.whole = await zoom();
    await page.mouse.move(box.x + 400, box.y + 120);
    for (const key of ["+", "+"]) await page.keyboard.press(key);
    const before = await zoom();
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 120, { steps: 4 });
    await page.mouse.up();
    result.dragged = [before, await zoom(), await selected()];
    await page.keyboard.press("0");
    await page.click("#theme");
    await settle();
    result.dark = await paint("#over-time-picture canvas");
    await page.locator("#over-time").screenshot({ path: `${shots}/over-time-dark.png` });
    await page.setViewportSize({ width: 900, height: 900 });
    await settle();
    result.narrow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await open(result.link);
    result.linked = await selected();
  }
} else if (action === "speed") {
  const before = processorTime();
  await open();
  result.start_cpu_ms = processorTime() - before;
  result.start_ms = await page.evaluate(() => Number(document.documentElement.dataset.ready));
  const map = async (name) => {
    result[name + "_whole"] = await frames("libprofile.timeline.hover = { iteration: i * 80, rank: i * 8, band: 'map' }; libprofile.timeline.picture.redraw()");
    result[name + "_pan"] = await frames("if (i === 0) libprofile.store.set({ zoom: libprofile.store.clampedZoom([0, 4000, 0, 600]) }); libprofile.timeline.pan(i % 2 ? 41 : 37, i % 60 < 30 ? 5 : -5)");
    result[name + "_zoom"] = await frames("libprofile.timeline.zoomBy(i < 60 ? 0.95 : 1 / 0.95, 'x')");
  };
  await map("map");
  const show = (measure) => page.evaluate(async (m) => {
    const { store, timeline } = window.libprofile;
    store.set({ measure: m, zoom: store.wholeZoom(store.state.phase) });
    const begin = performance.now();
    await timeline.load();
    timeline.picture.paint();
    return performance.now() - begin;
  }, measure);
  const ticks = processorTime();
  result.deviation_ms = await show("deviation");
  result.deviation_cpu_ms = processorTime() - ticks;
  await map("deviation");
  await page.evaluate(() => document.querySelectorAll("[data-unfold]").forEach((b) => b.click()));
  await map("deviation_unfolded");
  await page.evaluate(() => document.querySelectorAll("[data-unfold]").forEach((b) => b.click()));
  await show("value");
  result.tree_scroll = await frames("const t = libprofile.trees.pathTree; if (i === 0) t.setOpen(Array.from({ length: libprofile.data.nodes }, (_, n) => n)); t.scroller.scrollTop = (i * 37) % 3000; t.paint()");
  result.ranks_scroll = await frames("const t = libprofile.trees.systemTree; if (i === 0) t.setOpen(Array.from({ length: 2000 }, (_, n) => n)); t.scroller.scrollTop = i * 150; t.paint()");
  // Pixels that were moved while panning equal those of a new drawing.
  result.moved = await page.evaluate(() => {
    const { timeline, store } = window.libprofile, canvas = timeline.picture.canvas;
    const pixels = () => { timeline.picture.paint(); return new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer); };
    const out = [];
    for (const pooling of ["max", "mean"]) {
      timeline.loaded.ripmap.pooling = pooling;
      timeline.images.clear();
      store.set({ zoom: store.clampedZoom([2000, 6000, 200, 700]) });
      pixels();
      for (const [x, y] of [[300, 0], [-41, 3], [0, -60], [1500, 40], [-7, 0], [2, 1]]) {
        timeline.pan(x, y);
        const moved = pixels();
        timeline.images.clear();
        const anew = pixels();
        let different = 0;
        moved.forEach((p, i) => (different += p !== anew[i] ? 1 : 0));
        out.push(different / moved.length);
      }
    }
    return out;
  });
  const started = Date.now();
  await page.evaluate(() => window.libprofile.store.set({ a: { phase: window.libprofile.store.state.phase, from: 1000, to: 3000, ranks: [100, 400] } }));
  await page.waitForFunction(() => !window.libprofile.profile().exact);
  result.select_ms = Date.now() - started;
}
console.log(JSON.stringify(result));
await browser.close();
