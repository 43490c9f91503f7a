// What the page tells the server that it came from.

/** That it is open, and when it is closed. */
export function stayInTouch(): void {
  const page = Math.random().toString(36).slice(2);
  const alive = (): void => void fetch("alive?page=" + page).catch(() => {});
  alive();
  setInterval(alive, 60000);
  addEventListener("pageshow", (e) => {
    if (e.persisted) alive();
  });
  addEventListener("pagehide", () => void navigator.sendBeacon("closed?page=" + page));
}
