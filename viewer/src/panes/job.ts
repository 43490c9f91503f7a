// The head of the page: what ran, whether its data are complete, the theme, and a link to what is shown.
import type { Data } from "../data";
import { $ } from "../dom";
import { baseName, escaped } from "../format";
import type { Store } from "../state";
import { shortcomings } from "../words";

export function showJob(data: Data): void {
  const job = data.header.job,
    [program, ...words] = job.command.split(" ");
  document.title = "libprofile: " + baseName(program!);
  $("title").textContent = [baseName(program!), ...words].join(" ") || "(command unknown)";
  $("job").textContent = job.line;
  const { tool } = data.header;
  $("badges").innerHTML = tool
    ? `<span class="badge">${escaped(tool)}</span>`
    : job.complete
      ? `<span class="badge">complete</span>`
      : `<span class="badge bad">INCOMPLETE</span>`;
  const { missing, losses } = shortcomings(data);
  $("incomplete").hidden = missing.length + losses.length === 0;
  $("incomplete").innerHTML =
    `<b>${missing.length ? "The data are incomplete." : "Note about these data:"}</b><ul>${[...missing, ...losses].map((t) => `<li>${escaped(t)}</li>`).join("")}</ul>`;
}

type Theme = Store["state"]["theme"];

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme === "auto" ? (systemIsDark.matches ? "dark" : "light") : theme;
  $("theme").textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme];
}

export const themeAfter = (theme: Theme): Theme => (({ auto: "dark", dark: "light", light: "auto" }) as const)[theme];

export function onSystemTheme(apply: () => void, signal?: AbortSignal): void {
  systemIsDark.addEventListener("change", apply, { signal });
}

export function connectTheme(store: Store, redraw: () => void, signal: AbortSignal): void {
  const apply = (): void => {
    showTheme(store.state.theme);
    redraw();
  };
  apply();
  onSystemTheme(apply, signal);
  store.on(["theme"], apply);
  $("theme").onclick = () => store.set({ theme: themeAfter(store.state.theme) });
}

export function connectLink(store: Store): void {
  $("link").onclick = async () => {
    history.replaceState(null, "", "#" + store.link());
    try {
      await navigator.clipboard.writeText(location.href);
      $("link").textContent = "Copied";
    } catch {
      $("link").textContent = "It is in the address bar";
    }
    setTimeout(() => ($("link").textContent = "Copy link"), 1500);
  };
}
