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

/** What is to be done to the saved ones. */
type Change = { put: Annotation } | { remove: string };
const idOf = (change: Change): string => ("put" in change ? change.put.id : change.remove);
const changed = (list: Annotation[], changes: Change[]): Annotation[] =>
  inOrder([...list.filter(({ id }) => !changes.some((change) => idOf(change) === id)), ...changes.flatMap((change) => ("put" in change ? [change.put] : []))]);

/** Those that are in this page only, the last one of each mark. A live page, which renews itself, still has them then. */
interface Unsaved {
  changes: Change[];
  isGiven: boolean; // as a file, since the last one
}
const ofLivePage: Unsaved = { changes: [], isGiven: false };
let current: { isLostOnLeaving: boolean } | null = null;
window.addEventListener("beforeunload", (e) => {
  if (current?.isLostOnLeaving) e.preventDefault();
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
  private readonly unsaved: Unsaved;
  private sending = Promise.resolve();
  private underWay = 0;

  constructor(
    private readonly header: AnnotationsHeader | undefined,
    private readonly isServed: boolean,
    private readonly isLive: boolean,
    private readonly onChange: () => void,
  ) {
    this.unsaved = isLive ? ofLivePage : { changes: [], isGiven: false };
    this.list = changed(annotationsIn(header?.list), this.unsaved.changes);
    this.problem = header?.problem ?? "";
    current = this;
  }

  get isLostOnLeaving(): boolean {
    return this.unsaved.changes.length > 0 && !this.unsaved.isGiven;
  }
  /** Some are in this page only, and not under way to the server. */
  get isUnsaved(): boolean {
    return this.isLostOnLeaving && this.underWay === 0;
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
    if (this.savesItself) await this.exchange(null);
  }

  async put(one: Annotation): Promise<void> {
    const put = { ...one, ns: Math.round(one.ns), text: [...one.text.replace(/\p{Cs}/gu, "\ufffd")].slice(0, longestText).join("") };
    await this.change({ put });
  }
  async remove(id: string): Promise<void> {
    await this.change({ remove: id });
  }

  private async change(change: Change): Promise<void> {
    const { unsaved } = this;
    unsaved.changes = [...unsaved.changes.filter((one) => idOf(one) !== idOf(change)), change];
    unsaved.isGiven = false;
    this.list = changed(this.list, [change]);
    if (this.savesItself) ++this.underWay;
    this.onChange();
    if (this.savesItself) await (this.sending = this.sending.then(() => this.send()));
  }

  /** What could not be saved before is tried again. */
  private async send(): Promise<void> {
    let refusal = "";
    for (const change of this.unsaved.changes)
      if (await this.exchange(change)) this.unsaved.changes = this.unsaved.changes.filter((one) => one !== change);
      else refusal = this.problem;
    this.problem = refusal;
    --this.underWay;
    this.onChange();
  }

  private async exchange(change: Change | null): Promise<boolean> {
    this.problem = "";
    try {
      const response = await fetch(
          "annotations",
          change ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) } : {},
        ),
        sent = (await response.json()) as { annotations?: unknown; error?: string };
      if (!response.ok) throw new Error(sent.error ?? `libprofile view answered ${response.status}`);
      this.list = changed(
        annotationsIn(sent.annotations),
        this.unsaved.changes.filter((one) => one !== change),
      );
    } catch (error) {
      this.problem = (change ? "Not saved: " : "") + (error instanceof TypeError ? "libprofile view --serve does not answer" : messageOf(error));
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
    this.unsaved.isGiven = true;
    this.onChange();
  }
}
