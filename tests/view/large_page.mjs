// A timeline that is larger than the page: what page.mjs asks of the page.

/** process.argv[7], as JSON: causes that take the place of the page's; an iteration to select, and its times; the text of a mark. @param result takes what was found */
export async function largePage({ page, open, settle, shots, result, file }) {
  const { causes, iteration, times: [begin, end], annotation } = JSON.parse(process.argv[7]);
  await page.route((url) => url.href === file, async (route) => {
    const response = await route.fetch(), text = await response.text(), head = text.indexOf('id="header">') + 12, tail = text.indexOf("</script>", head);
    const header = JSON.parse(text.slice(head, tail));
    header.causes.list = causes;
    await route.fulfill({ response, body: text.slice(0, head) + JSON.stringify(header).replaceAll("<", "\\u003c") + text.slice(tail) });
  });
  await open();
  const shown = () => page.waitForFunction(() => window.libprofile.events.timeline.asked.shown?.isExact, undefined, { timeout: 30000 }),
    times = () => page.evaluate((n) => Array.from({ length: n }, (_, c) => window.libprofile.events.timeline.events.rows.map((_, r) => { const { begin, end } = window.libprofile.events.overlays.causes.times(c, r); return Array.from(begin, (b, i) => [b, end[i]]); })), causes.length),
    shares = () => page.waitForFunction(() => !document.getElementById("events-shares").hidden && document.getElementById("events-shares").innerText, undefined, { timeout: 30000 }).then((text) => text.jsonValue()),
    select = async (eventSpan) => { await page.evaluate((span) => window.libprofile.store.set({ eventSpan: span }), eventSpan); await settle(); return shares(); };
  await shown();
  result.whole = await times();
  // The iteration's sums are the same, whether it is seen, in part or not at all.
  result.unseen = await select(iteration);
  result.times = await select({ from: begin, to: end });
  for (const [name, moment] of Object.entries({ in_part: [(begin + end) / 2, 2 * end - begin], seen: [begin - (end - begin), 2 * end - begin] })) {
    await page.evaluate((m) => window.libprofile.store.set({ moment: m, eventSpan: null }), moment);
    await settle();
    await shown();
    result[name] = await select(iteration);
  }
  result.near = await times();
  result.selected = await page.evaluate(() => window.libprofile.events.timeline.selected());
  await page.screenshot({ path: `${shots}/events-large.png`, fullPage: true });
  // What the server did not take is sent again with the next mark; one that is removed does not come back.
  const marks = () => page.evaluate(() => { const { list, isUnsaved, problem } = window.libprofile.events.overlays.annotations.annotations; return { texts: list.map(({ text }) => text), isUnsaved, problem }; }),
    put = (id, text) => page.evaluate(([i, t]) => window.libprofile.events.overlays.annotations.annotations.put({ id: i, ns: 5, text: t }), [id, text]);
  await page.route("**/annotations*", (route) => route.fulfill({ status: 400, json: { error: "the disk is full" } }));
  await put("a1", annotation);
  result.refused = await marks();
  await page.unroute("**/annotations*");
  await put("a2", "second");
  result.sent = await marks();
  await page.evaluate(() => window.libprofile.events.overlays.annotations.annotations.remove("a2"));
  result.removed = await marks();
  // A live page makes its annotations anew whenever the job's state changes.
  result.live = await page.evaluate(() => {
    const Annotations = window.libprofile.events.overlays.annotations.annotations.constructor,
      header = { file: "annotations.json", list: [{ id: "b1", ns: 1, text: "stored" }, { id: "b2", ns: 2, text: "kept" }] },
      renewed = () => new Annotations(header, true, true, () => {}),
      say = ({ list, isUnsaved }) => [list.map(({ text }) => text), isUnsaved];
    const said = [say(renewed())];
    renewed().remove("b1");
    renewed().put({ id: "b3", ns: 3, text: "new" });
    said.push(say(renewed()));
    renewed().given();
    said.push(say(renewed()));
    renewed().remove("b3");
    return [...said, say(renewed())];
  });
}

/** Frames a second while the timeline moves, and how much of what they show is there already. */
export async function timelineSpeed({ page, open, frames, shots, result }) {
  await open();
  await page.evaluate(() => document.querySelector("#events").scrollIntoView({ block: "center" }));
  const whole = await page.evaluate(() => window.libprofile.store.wholeMoment()),
    asked = () => page.waitForFunction(() => !window.libprofile.events.timeline.asked || window.libprofile.events.timeline.asked.shown, undefined, { timeout: 60000 }),
    begin = "const { store, events } = libprofile, t = events.timeline, seen = (window.seen ??= { covered: 0, all: 0 }), p = t.asked?.shown, m = store.state.moment; ++seen.all; seen.covered += !t.asked || (p && p.from <= Math.max(0, m[0]) && p.to >= Math.min(m[1], t.header.end)) ? 1 : 0; ";
  const moved = async (name, from, step) => {
    await page.evaluate((m) => { window.seen = undefined; window.libprofile.store.set({ moment: m }); }, from);
    await asked();
    await page.waitForTimeout(500);
    const told = await frames(begin + step, 300);
    result[name] = { ...told, covered: await page.evaluate(() => window.seen.covered / window.seen.all) };
  };
  result.rows = await page.evaluate(() => window.libprofile.events.timeline.shownRows.length);
  await asked();
  await page.waitForTimeout(2000);
  await page.screenshot({ path: `${shots}/events-speed-whole.png` });
  const pan = "const w = m[1] - m[0], by = w * 0.01 * (i % 200 < 100 ? 1 : -1); store.set({ moment: store.clampedMoment([m[0] + by, m[1] + by]) });",
    zoom = "t.move(i % 100 < 50 ? 0.97 : 1 / 0.97);";
  for (const [name, share] of Object.entries({ half: 0.5, hundredth: 0.01, ten_thousandth: 1e-4, millionth: 1e-6 })) {
    const length = whole[1] * share,
      from = [0.3 * whole[1], 0.3 * whole[1] + length];
    await moved(`pan_${name}`, from, pan);
    await moved(`zoom_${name}`, from, zoom);
    await page.screenshot({ path: `${shots}/events-speed-${name}.png` });
  }
  await moved("zoom_whole", whole, zoom);
}

/** process.argv[7], as JSON: selections. What the page says of how long their calls and tasks take. */
export async function durationsOf({ page, open, settle, shots, result }) {
  await open();
  result.of = [];
  for (const { filter, ...span } of JSON.parse(process.argv[7])) {
    await page.evaluate(([eventSpan, some]) => {
      const { store } = window.libprofile,
        none = { kind: "", text: "", inside: "", from: 0, to: Infinity, ranks: "", threads: "", ranOn: "", nodes: "", access: "" };
      store.set({ eventSpan, eventFilter: { ...none, ...some } });
    }, [span, filter]);
    await settle();
    await page.waitForFunction(() => /task|call/.test(document.getElementById("events-durations").innerText) && !document.getElementById("events-durations").innerText.startsWith("Counting"), undefined, { timeout: 60000 });
    await page.waitForFunction(() => window.libprofile.events.matrix() !== undefined, undefined, { timeout: 60000 });
    result.of.push(await page.evaluate(() => {
      const { tasks, incomplete, tooLong, calls } = window.libprofile.events.durations(),
        matrix = window.libprofile.events.matrix(),
        plain = ({ name, count, total, mean, median, error, least, most, stolen, bins }) => ({ name, count, total, mean, median, error, least, most, stolen, bins: [...bins].sort((a, b) => a[0] - b[0]) });
      return { tasks: tasks.map(plain), incomplete, tooLong, calls: calls.map(plain), words: document.getElementById("events-durations").innerText,
        matrix: matrix && { ranks: matrix.ranks, bytes: [...matrix.bytes], counts: [...matrix.counts] } };
    }));
  }
  result.isIndexed = await page.evaluate(() => !!window.libprofile.events.timeline.asked);
  await page.screenshot({ path: `${shots}/events-durations-${result.isIndexed ? "asked" : "whole"}.png`, fullPage: true });
}

/** process.argv[7], as JSON: expressions, views with the length of their intervals, and what is wrong. @param result takes the values in each interval */
export async function curvesAsked({ page, open, settle, shots, result }) {
  const { sources, views, wrong } = JSON.parse(process.argv[7]);
  await open();
  result.of = [];
  for (const { moment, every } of views) {
    await page.evaluate(([m, curves]) => window.libprofile.store.set({ moment: m, curves }), [moment, { sources: sources.join("; "), every, isOver: false }]);
    await settle();
    await page.waitForFunction(() => !window.libprofile.events.overlays.asked || window.libprofile.events.overlays.asked.isWhole, undefined, { timeout: 60000 });
    await settle();
    result.of.push(await page.evaluate(([[t0, t1], length]) => window.libprofile.events.overlays.bar.curves.map((curve) => Array.from(curve.between(Math.floor(t0 / length), Math.ceil(t1 / length), length), (v) => (Number.isNaN(v) ? null : v))), [moment, every]));
  }
  await page.screenshot({ path: `${shots}/events-curves-asked.png`, fullPage: true });
  await page.evaluate((text) => window.libprofile.store.set({ curves: { sources: text, every: 0, isOver: false } }), wrong.join("; "));
  await settle();
  result.error = await page.textContent("#curve-error");
}

/** process.argv[7], as JSON: what to show (moment, mode, filter, and a selection), each with the pixels that are asked about, or null for those of the server's picture.
 *  @param result takes of each row and pixel which state or class is painted, and how long the longest call is */
export async function pixelsAsked({ page, open, settle, shots, result }) {
  await open();
  result.of = [];
  for (const [number, { moment, mode, filter, select, grid }] of JSON.parse(process.argv[7]).entries()) {
    await page.evaluate(([m, eventMode, some, eventSpan]) => {
      const { store } = window.libprofile,
        none = { kind: "", text: "", inside: "", from: 0, to: Infinity, ranks: "", threads: "", ranOn: "", nodes: "", access: "" };
      store.set({ moment: store.clampedMoment(m), eventMode, eventFilter: { ...none, ...some }, eventSpan });
    }, [moment, mode, filter, select]);
    await settle();
    await page.waitForFunction(() => { const { asked } = window.libprofile.events.timeline; return !asked || (asked.shown?.isExact && !asked.missing); }, undefined, { timeout: 60000 });
    await page.waitForFunction(() => /task|call|^$/.test(document.getElementById("events-durations").innerText) && !/^Counting/.test(document.getElementById("events-durations").innerText) && !/^Counting/.test(document.getElementById("events-shares").innerText), undefined, { timeout: 60000 });
    await page.waitForFunction(() => !window.libprofile.store.state.eventSpan || !window.libprofile.events.timeline.asked || (window.libprofile.events.durations() && window.libprofile.events.matrix() !== undefined), undefined, { timeout: 60000 });
    await settle();
    result.of.push(await page.evaluate((wanted) => {
      const { events: pane } = window.libprofile,
        { timeline: t } = pane,
        p = t.asked?.shown,
        { from, to, pixels } = wanted ?? p,
        { taskColors } = t,
        n = taskColors ? taskColors.colors.length : t.header.states.length,
        kinds = [], longest = [];
      t.events.rows.forEach((row, r) => {
        const pieces = t.pieces.of(r, taskColors), own = [], long = [];
        for (let x = 0; x < pixels; ++x) {
          const [a, b] = [row.own(from + (x * (to - from)) / pixels), row.own(from + ((x + 1) * (to - from)) / pixels)],
            sums = pieces.sums(a, b),
            least = ((to - from) / pixels) * 1e-6;
          let most = -1, largest = 0;
          for (let s = 0; s < pieces.states; ++s) { // what passes is seen, however short it is
            if (s === n && largest >= least) break;
            if (sums[s] > largest) [most, largest] = [s, sums[s]];
          }
          own.push(largest >= least ? [most, [...sums.slice(0, n)].sort((c, d) => d - c)] : [-1, []]);
          const [first, end] = pieces.range(a, b);
          long.push(pieces.longestCall(first, end));
        }
        kinds.push(own);
        longest.push(long);
      });
      const plain = ({ name, count, total, median, least, most, stolen }) => ({ name, count, total, median, least, most, stolen }),
        durations = window.libprofile.store.state.eventSpan && pane.durations(),
        plainMatrix = (matrix) => matrix && { ranks: matrix.ranks, bytes: [...matrix.bytes], counts: [...matrix.counts] };
      return { from, to, pixels, n, kinds, longest, isWhole: !t.asked || t.events.areWhole, types: t.header.types, shares: document.getElementById("events-shares").innerText,
        durations: durations && { tasks: durations.tasks.map(plain), calls: durations.calls.map(plain) }, matrix: durations && plainMatrix(pane.matrix()) };
    }, grid));
    await (await page.$("#events-section")).screenshot({ path: `${shots}/events-pixels-${await page.evaluate(() => (window.libprofile.events.timeline.asked ? "asked" : "whole"))}-${number}.png` });
  }
}
