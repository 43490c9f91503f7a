// The first screen: what the report says on its own.
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped } from "../format";
import type { Store } from "../state";
import { cards } from "../words";

export function connectFindings(data: Data, store: Store): void {
  const show = (): void => {
    $("findings").innerHTML = cards(data, store.state.phase)
      .map((x) => `<div class="finding"><h2>${escaped(x.title)}</h2>${x.html}</div>`)
      .join("");
  };
  show();
  store.on(["phase"], show);
}
