// Counters at the borders of events: what page.mjs asks of the page.

/** @param result takes what was found */
export async function counters({ page, open, settle, shots, result }) {
  await open("#curves=" + encodeURIComponent("d(page_faults) / dt"));
  result.rows = await page.evaluate(() => {
    const { rows, counters } = window.libprofile.events.timeline.events;
    return rows.map((row, r) => ({ rank: row.rank, thread: row.thread, counters: counters.map(({ name, rows: of }) => [name, of[r] && { times: Array.from(of[r].times), values: Array.from(of[r].values) }]) }));
  });
  // The longest task: what is said of it, and its facts.
  result.task = await page.evaluate(() => {
    const { timeline } = window.libprofile.events, { tasks, rows } = timeline.events;
    let longest = 0;
    for (let t = 0; t < tasks.count; ++t) if (tasks.duration(t, rows) > tasks.duration(longest, rows)) longest = t;
    window.libprofile.store.set({ task: { rank: rows[tasks.row[longest]].rank, number: tasks.number[longest] } });
    return { number: tasks.number[longest] };
  });
  await settle();
  result.task.facts = await page.textContent("#events-task");
  result.headings = await page.evaluate(() => window.libprofile.events.timeline.picture.svg().match(/<text[^>]*>[^<]*<\/text>/g).map((t) => t.replace(/<[^>]*>/g, "")));
  result.whole = await page.evaluate(() => {
    const { bar } = window.libprofile.events.overlays, Curve = bar.curves[0].constructor, end = window.libprofile.data.header.events.end;
    return Array.from(new Curve("d(page_faults)", window.libprofile.events.overlays.tracks).between(0, 1, end + 1));
  });
  // All times: durations over the counter, and what a click on the longest task's point does.
  await page.evaluate(() => {
    const { store, data } = window.libprofile;
    store.set({ task: null, eventSpan: { from: 0, to: data.header.events.end } });
  });
  await page.waitForSelector("#scatter canvas:visible");
  await settle();
  result.series = await page.evaluate(() => window.libprofile.events.series().map(({ places, ...series }) => series));
  result.words = await page.textContent("#scatter-words");
  result.names = await page.evaluate(() => [...document.getElementById("scatter-series").options].map((option) => option.text));
  result.csv = await page.evaluate(() => window.libprofile.events.csv());
  result.drawn = await page.evaluate(() => window.libprofile.events.scatter.picture.svg().match(/<rect/g).length);
  const box = await page.locator("#scatter canvas").boundingBox();
  result.found = null;
  for (let y = 2; y < box.height && !result.found?.task; y += 3)
    for (let x = 40; x < box.width && !result.found?.task; x += 6) {
      const told = await page.evaluate(([x, y]) => {
        const canvas = document.querySelector("#scatter canvas"), { left, top } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }));
        return document.getElementById("scatter-readout").textContent;
      }, [x, y]);
      if (!told) continue;
      await page.locator("#scatter canvas").click({ position: { x, y } });
      await settle();
      result.found = { told, task: await page.evaluate(() => window.libprofile.store.state.task), facts: await page.textContent("#events-task") };
    }
  await page.screenshot({ path: `${shots}/events-counters.png`, fullPage: true });
}
