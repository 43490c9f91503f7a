// A page of a job that runs. It asks the server what is new, renews itself, and says how the job is.
import { isAsking } from "./columns";
import { $, messageOf } from "./dom";
import { grouped } from "./format";
import type { Page } from "./page";
import { renewed } from "./renewal";

interface News {
  snapshot: number;
  age_ms: number; // of the newest data
  job: "running" | "ended" | "killed" | "unknown";
  failure: string;
  next: string; // a command
}

const between = 1000; // ms

export function follow(first: Page): void {
  let page = first,
    news: News | null = null,
    isPaused = false,
    isOver = false,
    problem = "",
    readAt = performance.now(); // when the data that are shown were read
  const user = new User();

  const show = (): void => {
    const text = $("live-text"),
      age = (performance.now() - readAt) / 1000,
      at = new Date(Date.now() - age * 1000).toTimeString().slice(0, 8),
      iterations = Math.max(0, ...page.data.header.phases.map((p) => p.iterations ?? 0)),
      so = `${grouped(iterations)} iterations as of ${at}${age < 2 ? "" : `, ${age < 120 ? `${Math.round(age)} s` : `${Math.round(age / 60)} min`} ago`}`;
    const ends: Partial<Record<News["job"], string>> = {
      ended: "The job has ended: this is its profile.",
      killed: `The job was killed or left without writing its profile: this is what its live files have. Next: ${news?.next}`,
    };
    $("live").dataset.job = isOver ? news!.job : isPaused ? "paused" : (news?.job ?? "running");
    $("live-pause").hidden = isOver;
    $("live-pause").textContent = isPaused ? "Go on" : "Pause";
    const said = isOver
      ? news!.failure || ends[news!.job]!
      : problem || (isPaused ? `Paused: ${so}` : news?.job === "unknown" ? `The job runs on other machines, or was killed: ${so}` : `The job runs: ${so}`);
    if (text.textContent !== said) text.textContent = said;
  };

  const look = async (): Promise<void> => {
    news = (await (await fetch("news")).json()) as News;
    problem = "";
    const shown = page.data.header.snapshot;
    if (news.snapshot === shown) readAt = performance.now() - news.age_ms;
    else if (!user.isBusy() && !isAsking()) {
      const { age_ms } = news,
        data = await (await fetch("data")).text();
      if (user.isBusy() || isAsking()) return;
      const change = async (): Promise<void> => {
        page = await renewed(page, data);
      };
      // The browser shows the page as it was until the new one is whole.
      const transition = document.startViewTransition?.(change);
      await (transition ? transition.updateCallbackDone : change());
      readAt = performance.now() - age_ms;
      user.point();
    }
    isOver = news.failure !== "" || ((news.job === "ended" || news.job === "killed") && news.snapshot === page.data.header.snapshot);
  };

  const tick = async (): Promise<void> => {
    if (!isPaused && !document.hidden)
      try {
        await look();
      } catch (error) {
        problem =
          error instanceof TypeError ? "libprofile view --serve does not answer: this is what it had" : `The page cannot renew itself: ${messageOf(error)}`;
      }
    show();
    if (!isOver) setTimeout(() => void tick(), between);
  };

  $("live").hidden = false;
  $("live-pause").onclick = () => {
    isPaused = !isPaused;
    show();
  };
  void tick();
}

/** What the user is doing: a page is not changed under a hand that moves. */
class User {
  private at: [number, number] | null = null; // the pointer
  private isPressing = false;
  private isTyping = false; // an entry that is not made yet
  private acted = -Infinity;

  constructor() {
    const act = (): void => void (this.acted = performance.now());
    const watch = (names: string[], listener: (e: Event) => void): void =>
      names.forEach((name) => document.addEventListener(name, listener, { capture: true, passive: true }));
    watch(["pointerdown", "keydown", "wheel", "scroll"], act);
    watch(["pointerdown"], () => (this.isPressing = true));
    watch(["pointerup", "pointercancel", "dragend"], () => (this.isPressing = false));
    watch(["pointermove"], (e) => (this.at = [(e as PointerEvent).clientX, (e as PointerEvent).clientY]));
    watch(["input"], (e) => (this.isTyping = (e.target as HTMLElement).matches(".typed input")));
    watch(["change", "focusout"], () => (this.isTyping = false));
  }

  isBusy(): boolean {
    const idle = performance.now() - this.acted;
    return this.isPressing || this.isTyping || idle < 700 || (document.activeElement instanceof HTMLSelectElement && idle < 15000);
  }

  /** Shows again what is under the pointer. Until a transition has ended the browser says that this is the root, so it is not asked. */
  point(): void {
    const [clientX, clientY] = this.at ?? [-1, -1],
      isUnder = (element: Element): boolean => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        return clientX >= left && clientX < right && clientY >= top && clientY < bottom;
      };
    if (isUnder($("selection"))) return; // it lies over the pictures
    [...document.querySelectorAll("main canvas")].find(isUnder)?.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
  }
}
