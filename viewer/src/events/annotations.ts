// What users wrote at times of the timeline. A served page saves it beside the profile; any other keeps it, and gives it as a file.
import type { AnnotationsHeader } from "../header";
import { messageOf } from "../dom";

export interface Annotation {
  id: string;
  ns: number; // on the axis
  rank?: number; // of one thread; none: of all
  thread?: number;
  text: string;
}

export const longestText = 500;
const most = 2000;

/** Of a live page that renews itself. */
let keptByPage: Annotation[] = [],
  current: { isUnsaved: boolean } | null = null;
window.addEventListener("beforeunload", (e) => {
  if (current?.isUnsaved) e.preventDefault();
});

/** As it is shown: in one line, and without what turns the direction of text around. */
export const plainText = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, " ");

/** What is one; a file may have been written by anybody. */
function annotationsIn(list: unknown): Annotation[] {
  if (!Array.isArray(list)) return [];
  const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  return (list as Partial<Annotation>[])
    .filter(
      (one) =>
        one !== null &&
        typeof one === "object" &&
        /^[0-9A-Za-z]{1,32}$/.test(String(one.id)) &&
        isNumber(one.ns) &&
        (one.rank === undefined || (isNumber(one.rank) && isNumber(one.thread ?? 0))) &&
        typeof one.text === "string",
    )
    .slice(0, most)
    .map(({ id, ns, rank, thread, text }) => ({
      id: String(id),
      ns: ns!,
      ...(rank === undefined ? {} : { rank, thread: thread ?? 0 }),
      text: [...text!].slice(0, longestText).join(""),
    }));
}

const inOrder = (list: Annotation[]): Annotation[] => list.sort((a, b) => a.ns - b.ns || (a.id < b.id ? -1 : 1));

export class Annotations {
  list: Annotation[] = [];
  problem = "";
  /** Some are in this page only. */
  isUnsaved = false;

  constructor(
    private readonly header: AnnotationsHeader | undefined,
    private readonly isServed: boolean,
    private readonly isLive: boolean,
    private readonly onChange: () => void,
  ) {
    this.list = inOrder(annotationsIn(header?.list));
    this.problem = header?.problem ?? "";
    if (isLive) {
      this.list = inOrder([...this.list.filter(({ id }) => !keptByPage.some((one) => one.id === id)), ...keptByPage]);
      this.isUnsaved = keptByPage.length > 0;
    }
    current = this;
  }

  get savesItself(): boolean {
    return this.isServed && !this.isLive && !!this.header;
  }
  /** The file beside the profile. */
  get file(): string {
    return this.header?.file ?? "annotations.json";
  }

  /** Those that were saved since the page was made. */
  async load(): Promise<void> {
    if (this.savesItself) await this.exchange(undefined);
  }

  async put(one: Annotation): Promise<void> {
    const clean = { ...one, ns: Math.round(one.ns), text: [...one.text.replace(/\p{Cs}/gu, "\ufffd")].slice(0, longestText).join("") };
    this.list = inOrder([...this.list.filter(({ id }) => id !== one.id), clean]);
    await this.changed({ put: clean });
  }
  async remove(id: string): Promise<void> {
    this.list = this.list.filter((one) => one.id !== id);
    await this.changed({ remove: id });
  }

  private async changed(change: object): Promise<void> {
    this.onChange();
    if (this.savesItself && (await this.exchange(change))) return;
    this.isUnsaved = true;
    if (this.isLive) keptByPage = this.list;
    this.onChange();
  }

  private async exchange(change: object | undefined): Promise<boolean> {
    try {
      const response = await fetch(
          "annotations",
          change ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) } : {},
        ),
        sent = (await response.json()) as { annotations?: unknown; error?: string };
      if (!response.ok) throw new Error(sent.error ?? `libprofile view answered ${response.status}`);
      // What could not be saved before stays.
      if (!this.isUnsaved) this.list = inOrder(annotationsIn(sent.annotations));
      this.problem = "";
    } catch (error) {
      this.problem = error instanceof TypeError ? "libprofile view --serve does not answer" : messageOf(error);
      if (change) this.problem = `Not saved: ${this.problem}`;
    }
    this.onChange();
    return this.problem === "";
  }

  static newId(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** The file, for beside the profile. */
  asFile(): string {
    return JSON.stringify({ format: 1, annotations: this.list }, null, 1) + "\n";
  }
  /** They were given as a file. */
  given(): void {
    this.isUnsaved = false;
    this.onChange();
  }
}
