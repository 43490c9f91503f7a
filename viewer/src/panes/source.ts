// The source lines of the function that is selected. A served page asks for those of the selection; a file has those of the hottest functions in
// the whole run.
import { ask } from "../columns";
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $, messageOf } from "../dom";
import { baseName, escaped, exactly, grouped, percent, plural, quantity, shortName } from "../format";
import type { LinesHeader, Metric } from "../header";
import { isRange, isScattered } from "../selection";
import type { Store } from "../state";
import { sentence } from "../words";

export class SourcePane {
  private readonly host = $("source");
  private readonly title = $("source-of");
  private readonly remark = $("source-remark");
  private run = 0;
  private asked = new Map<string, Promise<LinesHeader>>();
  private shownKey = "";

  constructor(
    private data: Data,
    private store: Store,
    private comparison: Comparison,
  ) {
    $("source-section").hidden = data.header.tool !== undefined; // such a profile has no lines of functions
    store.on(["node", "caller", "direction"], () => void this.show());
  }

  /** The function of the call path that is selected; of an MPI call the function that calls it. */
  private functionName(): string {
    const { nodes } = this.data.header,
      { direction, caller, node } = this.store.state;
    let n = direction === "up" && caller >= 0 ? this.data.bottomUp().node[caller]! : node;
    while (n > 0 && nodes.kind[n] !== "frame" && nodes.kind[n] !== "inlined") n = nodes.parent[n]!;
    return n > 0 ? nodes.name[n]! : "";
  }

  async show(): Promise<void> {
    const mine = ++this.run,
      name = this.functionName(),
      { header } = this.data;
    if (!name) return this.say("", "Select a function in the call paths to see its lines.");
    let lines: LinesHeader | undefined,
      metric = header.metrics[0]!,
      whole = this.comparison.a.data.header.locations.wall.reduce((x, y) => x + y, 0),
      where = "";
    if (header.served) {
      const { a } = this.comparison;
      metric = header.metrics[a.parts.row]!;
      whole = a.inclusive[0]!;
      try {
        lines = await this.known(name, metric);
      } catch (error) {
        if (mine === this.run) this.say(name, sentence(messageOf(error)));
        return;
      }
      if (a.untold() > 0) where = "The known part only: each value is a lower bound.";
    } else {
      lines = header.lines.find((f) => f.function === name);
      const { a, row } = this.store.state;
      if (a.phase >= 0 || a.ranks !== null || row !== 0)
        where = "Time of the whole run. libprofile view --serve shows the lines of a selection, by any metric.";
    }
    if (mine !== this.run) return;
    if (!lines || lines.files.length === 0)
      return this.say(
        name,
        header.served
          ? "Nothing was measured in its lines in this selection."
          : "The page has the lines of the hottest functions only. libprofile view --serve shows all.",
      );
    this.paint(lines, metric, whole, where);
  }

  private known(name: string, metric: Metric): Promise<LinesHeader> {
    const s = this.store.state.a;
    if (isScattered(s)) throw new Error("the lines of several ranges are not known; select one range");
    if (s.rest && s.ranks === null) throw new Error("the lines of all other iterations are not known; select the iterations themselves");
    const parameters = {
      function: name,
      metric: metric.name,
      ...(s.phase >= 0 ? { phase: s.phase } : {}),
      ...(isRange(this.data, s) ? { from: s.from, to: s.to } : {}),
      ...(s.ranks ? { first_rank: s.ranks[0], end_rank: s.ranks[1] } : {}),
      ...(s.rest ? { rest: 1 } : {}),
    };
    const key = JSON.stringify(parameters);
    let found = this.asked.get(key);
    if (found) return found;
    found = ask<{ source: LinesHeader }>("source", parameters).then((sent) => sent.source);
    this.asked.set(key, found);
    found.catch(() => this.asked.delete(key));
    if (this.asked.size > 16) this.asked.delete(this.asked.keys().next().value!);
    return found;
  }

  private say(name: string, text: string): void {
    this.title.textContent = name ? shortName(name) : "";
    this.remark.textContent = text;
    this.host.innerHTML = "";
    this.shownKey = "";
  }

  private paint(found: LinesHeader, metric: Metric, whole: number, where: string): void {
    const show = (v: number): string => quantity(v, metric.unit),
      error = (e: number | null): string => (e ? ` ± ${show(e)}` : ""),
      part = (v: number): string => (whole > 0 ? ` (${percent(v / whole)})` : "");
    this.title.textContent = shortName(found.function);
    this.title.title = found.function;
    const hasText = found.files.some((f) => f.text.length > 0),
      noText = hasText || this.data.header.served || found.files.every((f) => !f.name) ? "" : "libprofile view --serve or --with-source shows the source.";
    this.remark.textContent = [
      `${show(found.own)}${error(found.own_error)}${part(found.own)} of its own in ${plural(found.samples, "sample")}, ${show(found.inclusive)}${error(found.inclusive_error)}${part(found.inclusive)} with what it calls.`,
      where,
      noText,
      ...found.files.filter((f) => f.note).map((f) => sentence(f.note)),
    ]
      .filter((text) => text)
      .join(" ");
    const key = JSON.stringify(found);
    if (key === this.shownKey) return;
    this.shownKey = key;
    const most = Math.max(...found.files.flatMap((f) => f.lines.map((line) => line[1])));
    this.host.innerHTML =
      `<table><thead><tr><th title="with what is called there">total</th><th title="95 % interval of the total, from the number of samples">±</th><th title="of the line itself">own</th><th title="that hit the line itself">samples</th><th title="of MPI, OpenMP and regions, there or further down">calls</th><th>line</th><th class="code">source</th><th class="called">calls most</th></tr></thead>` +
      found.files.map((file) => this.fileHtml(file, metric, most)).join("") +
      "</table>";
    const hottest = this.host.querySelector<HTMLElement>("tr.hottest-line");
    this.host.scrollTop = hottest ? Math.max(0, hottest.offsetTop - this.host.clientHeight / 2) : 0;
  }

  private fileHtml(file: LinesHeader["files"][number], metric: Metric, most: number): string {
    const texts = new Map<number, string>(),
      starts = new Set<number>();
    for (const piece of file.text) {
      starts.add(piece.first);
      piece.lines.forEach((text, i) => texts.set(piece.first + i, text));
    }
    const values = new Map(file.lines.map((line) => [line[0], line]));
    const numbers = [...new Set([...texts.keys(), ...values.keys()])].sort((a, b) => a - b);
    const rows = numbers.map((n, i) => {
      const line = values.get(n),
        gap = i > 0 && (starts.has(n) || !texts.size) && n !== numbers[i - 1]! + 1 ? `<tr class="gap"><td colspan="8">⋮</td></tr>` : "",
        number = n === 0 ? "not known" : grouped(n),
        code = `<td class="code">${escaped(texts.get(n) ?? "")}</td>`;
      if (!line) return `${gap}<tr class="plain"><td></td><td></td><td></td><td></td><td></td><td>${number}</td>${code}<td></td></tr>`;
      const [, inclusive, own, samples, calls, estimated, called, error, ownError] = line,
        more = (e: number | null): string => (e ? ` ± ${exactly(e, metric.unit)}` : e === null || estimated ? " (estimate)" : ""),
        names = called.map(shortName);
      return (
        `${gap}<tr data-line="${n}" data-value="${inclusive}" data-own="${own}" class="${inclusive === most ? "hottest-line" : ""}" title="${escaped(`inclusive ${exactly(inclusive, metric.unit)}${more(error)}, own ${exactly(own, metric.unit)}${more(ownError)}`)}">` +
        `<td class="c-value"><span class="bar" style="width:${most > 0 ? ((100 * inclusive) / most).toFixed(1) : 0}%"></span><span>${quantity(inclusive, metric.unit)}</span></td><td class="error">${error ? "± " + quantity(error, metric.unit) : ""}</td><td>${own ? quantity(own, metric.unit) : ""}</td>` +
        `<td>${samples ? grouped(samples) : ""}</td><td>${calls ? grouped(calls) : ""}</td><td>${number}</td>${code}<td class="called" title="${escaped(names.join("\n"))}">${escaped(names.join(", "))}</td></tr>`
      );
    });
    const head = file.name ? `${escaped(baseName(file.name))} <span class="side">${escaped(file.name)}</span>` : "unknown file";
    return `<tbody><tr class="file"><th colspan="8" title="${escaped(file.name)}">${head}</th></tr>${rows.join("")}</tbody>`;
  }

  /** What is shown. */
  csv(): string {
    const quote = (s: string): string => '"' + s.replaceAll('"', '""') + '"';
    const rows = [...this.host.querySelectorAll<HTMLElement>("tr[data-line]")].map((row) =>
      [row.dataset.line, row.dataset.value, row.dataset.own, quote((row.querySelector(".code")!.textContent ?? "").replace(/^[=+\-@\t]/, "'$&"))].join(","),
    );
    return ["line,inclusive,exclusive,source", ...rows].join("\n") + "\n";
  }
}
