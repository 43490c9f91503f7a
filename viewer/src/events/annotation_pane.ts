// Annotations in the timeline: flags, the form that writes one, and the list of all.
import { themeColor } from "../color";
import { escaped, plural } from "../format";
import { CanvasSurface, save, type Surface } from "../surface";
import { left } from "../timeline/axes";
import { Annotations, longestText, plainText, type Annotation } from "./annotations";
import { mostRows, top, type EventPlace, type EventTimeline } from "./view";
import { moment } from "./words";

const longestFlag = 28; // characters
const mostFlags = 300;

export class AnnotationPane {
  readonly annotations: Annotations;
  private readonly form = document.createElement("form");
  private readonly where = document.createElement("span");
  private readonly text = document.createElement("input");
  private readonly rows = document.createElement("select");
  private readonly removing = document.createElement("button");
  private readonly list = document.createElement("details");
  private readonly note = document.createElement("p");
  private edited: Annotation | null = null;
  private heads: { x: number; y: number; w: number; h: number; one: Annotation }[] = [];
  /** The next click in the timeline says where. */
  private isArmed = false;

  constructor(
    host: HTMLElement,
    private readonly t: EventTimeline,
  ) {
    const { header } = t.data;
    this.annotations = new Annotations(header.annotations, header.served, header.snapshot > 0, () => this.show());
    const button = (text: string, id: string, action: () => void): HTMLButtonElement => {
      const one = document.createElement("button");
      one.type = "button";
      one.id = id;
      one.textContent = text;
      one.onclick = action;
      return one;
    };
    this.form.id = "annotation-form";
    this.form.className = "bar-line typed";
    this.form.hidden = true;
    this.text.id = "annotation-text";
    this.text.size = 50;
    this.text.maxLength = longestText;
    this.text.setAttribute("aria-label", "Text of the mark");
    this.rows.setAttribute("aria-label", "Rows of the mark");
    this.removing = button("Remove", "annotation-remove", () => void this.remove());
    const submit = document.createElement("button");
    submit.id = "annotation-save";
    submit.textContent = "Keep";
    this.form.append(
      this.where,
      this.text,
      this.rows,
      submit,
      this.removing,
      button("Cancel", "annotation-cancel", () => this.close()),
    );
    this.form.addEventListener("submit", (e) => {
      e.preventDefault();
      void this.keep();
    });
    this.form.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      this.close();
    });
    this.list.id = "annotations";
    this.note.id = "annotation-note";
    this.note.className = "dim";
    const line = document.createElement("div");
    line.className = "bar-line";
    line.append(
      button("Mark a time", "annotation-new", () => {
        this.isArmed = true;
        this.note.textContent = "Click in the timeline where the mark shall be.";
      }),
      button("Save marks as a file", "annotation-file", () => {
        save("annotations.json", this.annotations.asFile(), "application/json");
        this.annotations.given();
      }),
      this.note,
    );
    host.append(line, this.form, this.list);
    this.list.addEventListener("click", (e) => {
      const id = (e.target as HTMLElement).closest<HTMLElement>("[data-annotation]")?.dataset.annotation,
        one = this.annotations.list.find((a) => a.id === id);
      if (!one) return;
      this.reveal(one);
      this.edit(one);
    });
    this.listen();
  }

  load(): Promise<void> {
    this.show();
    return this.annotations.load();
  }

  private show(): void {
    const { list, problem, isUnsaved, savesItself, file } = this.annotations,
      opened = this.list.open;
    this.list.hidden = list.length === 0;
    this.list.innerHTML =
      `<summary>${plural(list.length, "mark")}</summary><ol>` +
      list
        .map(
          (one) =>
            `<li><button type="button" data-annotation="${escaped(one.id)}" title="Show and change it"><b>${moment(one.ns)}</b>${one.rank === undefined ? "" : ` rank ${one.rank}${one.thread ? `.${one.thread}` : ""}`}</button> ${escaped(plainText(one.text))}</li>`,
        )
        .join("") +
      "</ol>";
    this.list.open = opened;
    document.getElementById("annotation-file")!.hidden = list.length === 0 || (savesItself && !isUnsaved && !problem);
    this.note.textContent = [
      problem,
      isUnsaved
        ? `Marks are in this page only: save them as a file. As ${file} they are part of the next page.`
        : list.length > 0 && savesItself && !problem
          ? `Marks are in ${file}.`
          : "",
    ]
      .filter((text) => text)
      .map((text) => (/[.!?]$/.test(text) ? text : text + "."))
      .join(" ");
    this.t.picture.redraw();
  }

  private rowOf({ rank, thread }: Annotation): number {
    return rank === undefined ? -1 : this.t.events!.rows.findIndex((row) => row.rank === rank && row.thread === (thread ?? 0));
  }

  /** Opens the form for a new one. */
  mark(place: EventPlace | null): void {
    const [t0, t1] = this.t.store.state.moment,
      row = this.t.events?.rows[place?.row ?? this.t.firstRow];
    if (!row) return;
    const ns = Math.max(0, Math.round(place?.ns ?? (t0 + t1) / 2));
    this.edit({ id: Annotations.newId(), ns, rank: row.rank, thread: row.thread, text: "" });
  }

  private edit(one: Annotation): void {
    this.edited = one;
    const isNew = !this.annotations.list.includes(one),
      row = this.t.events!.rows[this.rowOf(one)];
    this.where.textContent = `at ${moment(one.ns)}`;
    this.text.value = one.text;
    this.rows.replaceChildren(...(row ? [new Option(`rank ${row.name}`, "row")] : []), new Option("all rows", "all"));
    this.removing.hidden = isNew;
    this.form.hidden = false;
    this.text.focus();
    this.t.picture.redraw();
  }
  private close(): void {
    this.form.hidden = true;
    this.edited = null;
    this.t.picture.canvas.focus();
    this.t.picture.redraw();
  }
  private async keep(): Promise<void> {
    if (!this.edited) return;
    const { id, ns, rank, thread } = this.edited,
      text = this.text.value.trim();
    const of = this.rows.value === "row" && rank !== undefined ? { rank, thread: thread ?? 0 } : {};
    this.close();
    if (text) await this.annotations.put({ id, ns, ...of, text });
  }
  private async remove(): Promise<void> {
    const { id } = this.edited!;
    this.close();
    await this.annotations.remove(id);
  }

  /** Moves the view so that it is seen. */
  private reveal(one: Annotation): void {
    const [t0, t1] = this.t.store.state.moment,
      row = this.rowOf(one);
    if (row >= 0) this.t.showRow(row);
    if (one.ns < t0 || one.ns > t1) this.t.store.set({ moment: this.t.store.clampedMoment([one.ns - (t1 - t0) / 2, one.ns + (t1 - t0) / 2]) });
    this.t.reading = { row: Math.max(0, row), ns: one.ns };
    this.tell(one);
  }
  private tell(one: Annotation): void {
    document.getElementById("events-readout")!.textContent = `${moment(one.ns)}${one.rank === undefined ? "" : `, rank ${one.rank}`}: ${plainText(one.text)}`;
  }

  /** Reads the next or previous one. */
  step(by: 1 | -1): void {
    const { list } = this.annotations,
      [t0, t1] = this.t.store.state.moment,
      now = this.t.reading?.ns ?? (t0 + t1) / 2,
      next = by > 0 ? list.find(({ ns }) => ns > now) : list.findLast(({ ns }) => ns < now);
    if (!next) return;
    this.reveal(next);
    this.t.picture.redraw();
  }

  draw(s: Surface): void {
    const { t } = this,
      [t0, t1] = t.store.state.moment,
      color = themeColor("b"),
      end = left + Math.floor(t.width),
      heads: typeof this.heads = [],
      isEdited = this.edited && !this.annotations.list.includes(this.edited),
      seen = [...this.annotations.list, ...(isEdited ? [this.edited!] : [])].filter(({ ns }) => ns >= t0 && ns <= t1),
      until: number[] = []; // by row: where the text of its last flag ends
    for (const one of seen.slice(0, mostFlags)) {
      const row = this.rowOf(one);
      if (one.rank !== undefined && (row < t.firstRow || row >= t.firstRow + mostRows)) continue; // it is not shown, or not in this page
      const x = t.xOf(one.ns),
        y = row < 0 ? top : top + (row - t.firstRow) * t.rowHeight,
        h = row < 0 ? t.rowHeight * t.shownRows.length : t.rowHeight,
        words = plainText(one.text),
        short = words.length > longestFlag ? words.slice(0, longestFlag - 1) + "…" : words,
        w = short.length * 6 + 8,
        hasRoom = !(x < (until[row + 1] ?? -Infinity)) && x + w < end;
      s.line([x, y, x, y + h], themeColor("paper"), 3);
      s.line([x, y, x, y + h], color, 1.4);
      if (hasRoom && short) {
        s.rect(x, y, w, 13, themeColor("paper"), color);
        s.text(short, x + 4, y + 7, color, "left", 10);
        until[row + 1] = x + w + 2;
      } else s.area([x, y, x + 8, y + 4, x, y + 8], color);
      heads.push({ x: x - 2, y, w: hasRoom ? w + 2 : 11, h: 13, one });
    }
    if (s instanceof CanvasSurface) this.heads = heads;
  }

  private headAt(e: MouseEvent): Annotation | undefined {
    return this.heads.findLast(({ x, y, w, h }) => e.offsetX >= x && e.offsetX <= x + w && e.offsetY >= y && e.offsetY <= y + h)?.one;
  }

  private listen(): void {
    const { canvas } = this.t.picture;
    // Before what selects iterations.
    canvas.addEventListener(
      "pointerdown",
      (e) => {
        const head = this.headAt(e);
        if (!head && !this.isArmed) return;
        e.stopImmediatePropagation();
        e.preventDefault();
        if (head) this.edit(head);
        else {
          this.mark(this.t.placeAt(e.offsetX, e.offsetY));
          this.note.textContent = "";
        }
        this.isArmed = false;
      },
      { capture: true },
    );
    canvas.addEventListener("pointermove", (e) => {
      const head = this.headAt(e);
      if (!head) return;
      canvas.style.cursor = "pointer";
      this.tell(head);
    });
  }
}
