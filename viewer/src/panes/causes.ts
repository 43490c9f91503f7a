// What made the run longer than it could be. A cause selects its ranks and iterations.
import { causeSelection, chooseCause } from "../causes";
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped } from "../format";
import { selectionCode } from "../selection";
import type { Store } from "../state";
import { dressed, sentence } from "../words";

export function connectCauses(data: Data, store: Store): void {
  const { list, sentence: sum, scope, untold } = data.header.causes;
  $("causes-section").hidden = list.length === 0 && untold.length === 0;
  $("causes-sum").innerHTML = dressed(sentence([sum, ...scope.map((text) => "looked at " + text)].join("; ")));
  $("causes-untold").innerHTML = untold.map((text) => dressed(sentence(text))).join(" ");
  $("causes").innerHTML = list
    .map(
      (cause, i) =>
        `<li><button aria-expanded="false" aria-controls="cause-${i}" data-cause="${i}" title="Select its ranks and iterations"><b class="number">${i + 1}</b> <b class="share">${escaped(cause.share)}</b> <span>${dressed(cause.sentence)}</span></button>` +
        `<div id="cause-${i}" hidden><p>${cause.evidence.map((text) => dressed(sentence(text))).join(" ")} <span>${dressed(sentence(cause.gain))}</span></p><code>${escaped(cause.next)}</code></div></li>`,
    )
    .join("");
  const show = (): void =>
    list.forEach((_, i) => {
      const chosen = store.state.cause === i;
      document.querySelector(`[data-cause="${i}"]`)!.setAttribute("aria-expanded", String(chosen));
      $(`cause-${i}`).hidden = !chosen;
    });
  $("causes").addEventListener("click", (e) => {
    const button = (e.target as HTMLElement).closest<HTMLElement>("[data-cause]");
    if (!button) return;
    const cause = Number(button.dataset.cause);
    if (store.state.cause === cause) store.set({ a: { phase: -1, from: 0, to: 0, ranks: null } });
    else chooseCause(data, store, cause);
  });
  show();
  store.on(["cause"], show);
  // Another selection is that of no cause.
  store.on(["a"], () => {
    const { cause, a } = store.state;
    if (cause >= 0 && selectionCode(a) !== selectionCode(causeSelection(data, cause))) store.set({ cause: -1 });
  });
}
