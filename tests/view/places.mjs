// NUMA nodes of tasks and of their data in the timeline: what page.mjs asks of the page.

/** @param result takes what was found */
export async function places({ page, open, settle, saved, shots, result }) {
  const asked = JSON.parse(process.argv[7]), none = { kind: "", text: "", inside: "", from: 0, to: Infinity, ranks: "", nodes: "", access: "" };
  await open();
  const set = async (state) => { await page.evaluate((s) => window.libprofile.store.set(s), state); await settle(); };
  const text = (id) => page.evaluate((i) => document.getElementById(i).textContent.replaceAll("\u202f", " "), id);
  result.modes = await page.evaluate(() => [...document.getElementById("events-mode").options].map((o) => o.value));
  result.inputs = await page.evaluate(() => !!document.getElementById("events-filter-NUMAnodes"));
  result.bytes = await page.evaluate(() => document.documentElement.outerHTML.length);
  if (!result.modes.includes("remote")) return;
  result.tasks = await page.evaluate(() => {
    const { tasks } = window.libprofile.events.timeline.events, { places } = tasks;
    return Array.from({ length: tasks.count }, (_, t) => ({
      number: tasks.number[t], node: places.ofTask[t], accesses: places.accesses(tasks, t), read: places.mainNode(tasks, t, "read"), written: places.mainNode(tasks, t, "written"),
      data: Array.from(places.ofData.slice(tasks.firstDependence[t], tasks.firstDependence[t + 1])),
    }));
  });
  const whole = await page.evaluate(() => { const [from, to] = window.libprofile.store.wholeMoment(); return { from, to: to + 10 }; });
  /** Of the selection: matrix, and tasks that count. */
  const matrix = () => page.evaluate(() => {
    const { events } = window.libprofile, nodes = events.accesses(), cells = [];
    if (!nodes) return null;
    for (let i = 0; i < nodes.nodes; ++i) for (let k = 0; k < nodes.nodes; ++k) cells.push([i, k, nodes.reads[i * nodes.nodes + k], nodes.writes[i * nodes.nodes + k]]);
    return { cells: cells.filter(([, , r, w]) => r + w > 0), local: nodes.local, remote: nodes.remote, unknown: nodes.unknown, tasks: events.durations().tasks.reduce((n, one) => n + one.count, 0) };
  });
  await set({ eventSpan: whole });
  result.whole = await matrix();
  result.words = await text("events-durations");
  result.half = { to: Math.round(whole.to / 2) };
  await set({ eventSpan: { from: 0, to: result.half.to } });
  result.half.matrix = await matrix();
  // A filter by node, typed.
  await set({ eventSpan: whole });
  result.filtered = {};
  for (const access of ["", "read", "written"]) {
    await set({ eventFilter: none });
    await page.fill("#events-filter-NUMAnodes", "1-2");
    await page.press("#events-filter-NUMAnodes", "Enter");
    await page.selectOption("#events-filter-thatare", access);
    await settle();
    result.filtered[access] = { ...(await matrix()), csv: (await saved("events.csv")).toString(), shown: await page.inputValue("#events-filter-NUMAnodes") };
  }
  await set({ eventFilter: none });
  result.places = { none: (await saved("events.csv")).toString() };
  for (const [name, id, value] of [["thread", "threads", "1,3-4"], ["ran_on", "ranonNUMAnodes", "1-2"]]) {
    await set({ eventFilter: none });
    if (!(await page.$(`#events-filter-${id}`))) continue;
    await page.fill(`#events-filter-${id}`, value);
    await page.press(`#events-filter-${id}`, "Enter");
    await settle();
    result.places[name] = (await saved("events.csv")).toString();
  }
  await page.fill("#events-filter-NUMAnodes", "1-2");
  await page.press("#events-filter-NUMAnodes", "Enter");
  await page.selectOption("#events-filter-thatare", "written");
  const before = await page.evaluate(() => window.libprofile.store.state.eventFilter);
  await open("#" + (await page.evaluate(() => window.libprofile.store.link())));
  result.link = [before, await page.evaluate(() => window.libprofile.store.state.eventFilter)];
  await set({ eventFilter: none, eventSpan: null });
  // Curves.
  result.curves = await page.evaluate(({ sources, every }) => {
    const { tracks, bar } = window.libprofile.events.overlays, { store } = window.libprofile;
    store.set({ curves: { sources: "threads()", every: 0, isOver: false } });
    const Curve = bar.curves[0].constructor, out = sources.map((source) => Array.from(new Curve(source, tracks).between(0, 40, every), (v) => (Number.isNaN(v) ? null : v)));
    store.set({ curves: { sources: "", every: 0, isOver: false } });
    return out;
  }, asked);
  result.ready = await page.evaluate(() => [...document.getElementById("curve-ready").options].map((o) => o.value));
  result.clock = await page.evaluate(() => { const { begin, own, axis } = window.libprofile.data.header.events.rows; return { begin: begin[0], scale: axis[0] / own[0] }; });
  // Colours in the middle of each stretch.
  const colors = () => page.evaluate(() => {
    const { timeline } = window.libprofile.events, { tasks, rows } = timeline.events, canvas = document.querySelector("#events canvas"), scale = canvas.width / canvas.clientWidth, g = canvas.getContext("2d"), out = {};
    for (let t = 0; t < tasks.count; ++t) {
      const [first, end] = tasks.runs(t);
      for (let i = first; i < end; ++i) {
        const row = rows[tasks.runRow[i]], c = tasks.runCall[i], x0 = timeline.xOf(row.place(row.calls.begin[c])), x1 = timeline.xOf(row.place(row.calls.end[c]));
        if (x1 - x0 > 6) out[tasks.number[t]] = Array.from(g.getImageData(Math.round(((x0 + x1) / 2) * scale), Math.round((timeline.middleOf(tasks.runRow[i]) - 3) * scale), 1, 1).data);
      }
    }
    return out;
  });
  result.colors = {};
  for (const mode of ["read_map", "write_map", "remote"]) {
    await page.selectOption("#events-mode", mode);
    await settle();
    result.colors[mode] = { of: await colors(), legend: await text("events-legend"), again: new URLSearchParams(await page.evaluate(() => window.libprofile.store.link())).get("events") };
    await page.screenshot({ path: `${shots}/places-${mode}.png`, fullPage: true });
  }
  // Fewer shades, then limits of durations.
  const type = async (id, value) => { await page.fill(`#events-shades-${id}`, value); await page.press(`#events-shades-${id}`, "Enter"); await settle(); };
  const shades = () => page.evaluate(() => { const { least, most, count } = window.libprofile.events.timeline.shades; return { least, most, count, invalid: document.getElementById("events-shades-count").getAttribute("aria-invalid") }; });
  await type("count", "2");
  result.two = { of: await colors(), legend: await text("events-legend") };
  result.shades = {};
  for (const mode of ["duration", "task_duration"]) {
    await page.selectOption("#events-mode", mode);
    await settle();
    const list = (result.shades[mode] = { usual: await shades() });
    await type("from", "50 us");
    await type("to", "0.2 ms");
    await type("count", "5");
    list.chosen = await shades();
    await type("count", "1");
    list.one = await shades();
    await type("count", "5");
    await type("to", "20 us");
    list.crossed = await shades();
    await type("to", "0.2 ms");
    if (mode === "task_duration") {
      list.colors = await colors();
      await page.screenshot({ path: `${shots}/places-${mode}.png`, fullPage: true });
    }
  }
  const state = () => page.evaluate(() => window.libprofile.store.state.eventShades);
  const chosen = await state();
  await open("#" + (await page.evaluate(() => window.libprofile.store.link())));
  result.shades.link = [chosen, await state()];
  await open("#events=task_duration&shades=duration.5.3.900,task_duration.0.0.1,remote.7.7.4,kind.1.2.3");
  result.shades.hostile = await state();
  // The facts of a task.
  await set({ task: { rank: 0, number: asked.task }, eventSpan: whole, eventMode: "remote" });
  result.facts = await page.evaluate(() => [...document.querySelectorAll("#events-task tr")].map((row) => [...row.children].map((cell) => cell.textContent)));
  await page.screenshot({ path: `${shots}/places-task.png`, fullPage: true });
}
