// What lies over the timeline: what page.mjs asks of the page.

/** @param result takes what was found */
export async function curves({ page, open, settle, saved, shots, result }) {
  const asked = JSON.parse(process.argv[7]);
  await open("#curves=" + encodeURIComponent("threads(computing); d(bytes())/dt"));
  const text = (id) => page.evaluate((i) => document.getElementById(i).textContent.replaceAll("\u202f", " "), id);
  result.rows = await page.evaluate(() => {
    const { begin, own, axis, complete } = window.libprofile.data.header.events.rows, { rows } = window.libprofile.events.timeline.events;
    return rows.map((row) => ({ rank: row.rank, thread: row.thread, begin: begin[row.location], scale: axis[row.location] / own[row.location], complete: complete[row.location] }));
  });
  result.end = await page.evaluate(() => window.libprofile.data.header.events.end);
  result.functions = await page.evaluate(() => window.libprofile.events.overlays.tracks.names.functions);
  /** Values by expression, or what is wrong and where. */
  result.values = await page.evaluate(({ sources, first, end, every }) => {
    const { bar, tracks } = window.libprofile.events.overlays, Curve = bar.curves[0].constructor;
    return sources.map((source) => {
      try {
        return Array.from(new Curve(source, tracks).between(first, end, every), (v) => (Number.isNaN(v) ? null : v));
      } catch (error) {
        return { message: error.message, at: error.at, length: error.length };
      }
    });
  }, asked);
  // Asked in parts, the answer is the same.
  result.in_parts = await page.evaluate(({ sources, first, end, every }) => {
    const { bar, tracks } = window.libprofile.events.overlays, Curve = bar.curves[0].constructor, curve = new Curve(sources[0], tracks), middle = Math.floor((first + end) / 2);
    curve.between(middle - 5, middle + 5, every);
    curve.between(middle, middle + 20, every);
    return Array.from(curve.between(first, end, every), (v) => (Number.isNaN(v) ? null : v));
  }, asked);
  result.pixels = await page.evaluate(({ sources, every }) => {
    const { bar, tracks } = window.libprofile.events.overlays, Curve = bar.curves[0].constructor, curve = new Curve(sources[0], tracks), list = (a) => Array.from(a, (v) => (Number.isNaN(v) ? null : v));
    const { least, most, mean } = curve.pixels(0, 7.3 * every, 40, every);
    return { least: list(least), most: list(most), mean: list(mean) };
  }, asked);
  // A counter is one more name: two made-up ones, on the first row and on all.
  result.counted = await page.evaluate(({ first, end, every }) => {
    const { bar, tracks } = window.libprofile.events.overlays, Curve = bar.curves[0].constructor, Tracks = tracks.constructor, { data, events } = window.libprofile, { rows } = events.timeline.events;
    const times = (row) => Float64Array.from({ length: 50 }, (_, i) => Math.round(row.own((first + 0.7 + i * 1.31) * every))), counters = [
      { name: "PAPI_TOT_CYC", unit: "", rows: rows.map((row) => ({ times: times(row), values: Float64Array.from({ length: 50 }, (_, i) => 1000 + i * i * 7) })) },
      { name: "energy", unit: "", rows: rows.map((row, r) => (r > 0 ? null : { times: times(row), values: Float64Array.from({ length: 50 }, (_, i) => i) })) }];
    const of = new Tracks(data, { ...events.timeline.events, counters });
    return Object.fromEntries(["PAPI_TOT_CYC", "d(PAPI_TOT_CYC) / dt", "d(PAPI_TOT_CYC) / d(energy)", "max(d(PAPI_TOT_CYC))", "on(1, energy)"].map((source) => [source, Array.from(new Curve(source, of).between(first + 1, first + 60, every), (v) => (Number.isNaN(v) ? null : v))]));
  }, asked);
  // The bar: typed, chosen, wrong, hidden, kept in the link.
  result.headings = await page.evaluate(() => window.libprofile.events.timeline.picture.svg().match(/<text[^>]*>[^<]*<\/text>/g).map((t) => t.replace(/<[^>]*>/g, "")));
  const height = () => page.evaluate(() => document.querySelector("#events canvas").clientHeight);
  result.heights = { two: await height() };
  result.ready = await page.evaluate(() => [...document.getElementById("curve-ready").options].map((o) => o.value).filter((v) => v));
  await page.selectOption("#curve-ready", "in_flight()");
  await settle();
  result.heights.three = await height();
  result.typed = await page.inputValue("#curve-input");
  const canvas = page.locator("#events canvas"), box = await canvas.boundingBox();
  await page.mouse.move(box.x + 78 + 0.9 * (box.width - 174), box.y + 30);
  await page.waitForTimeout(150);
  result.readout = await text("curve-readout");
  await page.screenshot({ path: `${shots}/events-curves.png`, fullPage: true });
  result.svg = (await saved("events.svg")).toString();
  const png = await saved("events.png");
  result.png = { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
  result.canvas = await page.evaluate(() => { const { width, height } = document.querySelector("#events canvas"); return { width, height }; });
  (await import("node:fs")).writeFileSync(`${shots}/events-curves.svg`, result.svg);
  (await import("node:fs")).writeFileSync(`${shots}/events-saved.png`, png);
  await page.selectOption("#curve-place", "over");
  await page.selectOption("#curve-every", "1000000");
  await settle();
  result.heights.over = await height();
  await page.screenshot({ path: `${shots}/events-curves-over.png`, fullPage: true });
  result.state = await page.evaluate(() => window.libprofile.store.state.curves);
  await open("#" + (await page.evaluate(() => window.libprofile.store.link())));
  result.again = await page.evaluate(() => window.libprofile.store.state.curves);
  await page.click("#curve-hide");
  result.hidden = await page.inputValue("#curve-input");
  await page.fill("#curve-input", "threads(computing); threads(computng)");
  await page.press("#curve-input", "Enter");
  await settle();
  result.wrong = { text: await text("curve-error"), shown: await page.evaluate(() => window.libprofile.events.overlays.bar.curves.length), invalid: await page.getAttribute("#curve-input", "aria-invalid") };
  // No text of an expression becomes a part of the page.
  await page.fill("#curve-input", 'threads("<img src=x onerror=alert(1)>")');
  await page.press("#curve-input", "Enter");
  await settle();
  result.hostile = { images: await page.locator("#events-overlays img").count(), text: await text("curve-error") };
}

/** Causes over the timeline. */
export async function causeMarks({ page, open, settle, paint, shots, result }) {
  await open();
  await page.evaluate(() => document.querySelector("#events canvas").scrollIntoView({ block: "center" }));
  const text = (id) => page.evaluate((i) => document.getElementById(i).textContent.replaceAll("\u202f", " "), id);
  result.rows = await page.evaluate(() => {
    const { begin, own, axis } = window.libprofile.data.header.events.rows, { rows } = window.libprofile.events.timeline.events;
    return rows.map((row) => ({ rank: row.rank, begin: begin[row.location], scale: axis[row.location] / own[row.location] }));
  });
  result.times = await page.evaluate(() => {
    const { data, events } = window.libprofile, { causes } = events.overlays, { rows } = events.timeline.events;
    return data.header.causes.list.map((_, c) => rows.map((_, r) => { const { begin, end } = causes.times(c, r); return Array.from(begin, (from, i) => [from, end[i]]); }));
  });
  const canvas = page.locator("#events canvas");
  result.clicked = [];
  for (let c = 0; c < result.times.length; ++c) {
    const at = await page.evaluate((cause) => {
      const { timeline, overlays } = window.libprofile.events;
      return { x: timeline.xOf(window.libprofile.store.wholeMoment()[1] * 0.7), y: overlays.lanes + 12 * cause + 5 };
    }, c);
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + at.x, box.y + at.y);
    await page.waitForTimeout(150);
    const words = await text("events-readout");
    await page.mouse.down();
    await page.mouse.up();
    await settle();
    result.clicked.push({ words, ...(await page.evaluate(() => ({ cause: window.libprofile.store.state.cause, a: window.libprofile.store.state.a }))) });
  }
  await page.screenshot({ path: `${shots}/events-causes.png`, fullPage: true });
  /** Whether the lower edge of the row has the colour of marks in the middle of each time. */
  result.drawn = await page.evaluate(async () => {
    const { store, events } = window.libprofile, { timeline, overlays } = events, { canvas } = timeline.picture, scale = canvas.width / canvas.clientWidth;
    store.set({ cause: -1 });
    const out = { in: 0, missed: 0, outside: 0 };
    for (const [r, row] of timeline.events.rows.entries()) {
      const { parts } = row;
      for (let p = 0; p < parts.begin.length; p += 7) {
        if (parts.phase[p] < 0) continue;
        const [from, to] = [row.place(parts.begin[p]), row.place(parts.end[p])], middle = (from + to) / 2;
        store.set({ moment: store.clampedMoment([from, to]) });
        timeline.picture.paint();
        const [red, green, blue] = canvas.getContext("2d").getImageData(timeline.xOf(middle) * scale, (20 + (r + 1) * timeline.rowHeight - 3) * scale, 1, 1).data;
        const isMarked = red > 180 && green < 90 && blue < 60, isIn = [0, 1].some((c) => { const { begin, end } = overlays.causes.times(c, r); return begin.some((b, i) => b <= middle && end[i] > middle); });
        if (isIn !== isMarked) ++out[isIn ? "missed" : "outside"];
        else if (isIn) ++out.in;
      }
    }
    return out;
  });
  await page.focus("#events canvas");
  result.keys = [];
  for (const key of ["f", "f", "F"]) {
    await page.keyboard.press(key);
    result.keys.push(await page.evaluate(() => window.libprofile.store.state.cause));
  }
  result.title = await page.title();
}

/** Marks of the user. process.argv[7]: what to do, as JSON. */
export async function annotations({ page, open, settle, shots, result }) {
  const asked = JSON.parse(process.argv[7]);
  await open();
  await page.evaluate(() => document.querySelector("#events canvas").scrollIntoView({ block: "center" }));
  const canvas = page.locator("#events canvas"),
    list = () => page.evaluate(() => window.libprofile.events.overlays.annotations.annotations.list),
    note = () => page.evaluate(() => document.getElementById("annotation-note").textContent),
    texts = () => page.evaluate(() => window.libprofile.events.timeline.picture.svg().match(/<text[^>]*>[^<]*<\/text>/g).map((t) => t.replace(/<[^>]*>/g, "")));
  result.at_first = await list();
  result.note_at_first = await note();
  const at = async (share, row) => page.evaluate(([s, r]) => { const { timeline } = window.libprofile.events; return { x: Math.round(timeline.xOf(s * window.libprofile.store.wholeMoment()[1])), y: Math.round(timeline.middleOf(r)) }; }, [share, row]);
  const move = async ({ x, y }) => {
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + x, box.y + y);
    await page.waitForTimeout(150);
  };
  for (const { share, row, text, all, by } of asked.marks ?? []) {
    if (by === "button") {
      await page.click("#annotation-new");
      await page.evaluate(() => document.querySelector("#events canvas").scrollIntoView({ block: "center" }));
      await move(await at(share, row));
      await page.mouse.down();
      await page.mouse.up();
    } else {
      await page.focus("#events canvas");
      await move(await at(share, row));
      await page.keyboard.press("m");
    }
    await page.fill("#annotation-text", text);
    if (all) await page.selectOption("#annotation-form select", "all");
    await page.press("#annotation-text", "Enter");
    await settle();
  }
  result.list = await list();
  result.note = await note();
  result.texts = await texts();
  result.span = await page.evaluate(() => window.libprofile.store.state.eventSpan);
  await page.screenshot({ path: `${shots}/events-annotations.png`, fullPage: true });
  if (await page.evaluate(() => window.libprofile.events.overlays.annotations.heads.length > 0)) {
    // Keys read them, a click on a flag changes one.
    await page.focus("#events canvas");
    result.read = [];
    for (const key of ["N", "N", "n"]) {
      await page.keyboard.press(key);
      result.read.push(await page.textContent("#events-readout"));
    }
    const head = await page.evaluate(() => { const { x, y } = window.libprofile.events.overlays.annotations.heads[0]; return { x: x + 3, y: y + 3 }; });
    await move(head);
    result.hovered = await page.textContent("#events-readout");
    await page.mouse.down();
    await page.mouse.up();
    result.form = await page.evaluate(() => ({ hidden: document.getElementById("annotation-form").hidden, text: document.getElementById("annotation-text").value }));
    await page.press("#annotation-text", "Escape");
  }
  for (const { text, becomes } of asked.changes ?? []) {
    await page.evaluate(() => (document.getElementById("annotations").open = true));
    await page.click(`#annotations li:has-text("${text}") button`);
    if (becomes) {
      await page.fill("#annotation-text", becomes);
      await page.click("#annotation-save");
    } else await page.click("#annotation-remove");
    await settle();
  }
  result.after = await list();
  result.note_after = await note();
  result.images = await page.locator("#events-overlays img").count();
  result.title = await page.title();
  result.listed = await page.textContent("#annotations");
  if (await page.isVisible("#annotation-file")) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#annotation-file")]);
    result.file = (await import("node:fs")).readFileSync(await download.path(), "utf8");
    result.file_name = download.suggestedFilename();
  }
}
