// Where in the code: the icicle, its colours and what is said of a box.
import type { Comparison } from "../comparison";
import type { Data } from "../data";
import { $ } from "../dom";
import { Icicle } from "../icicle";
import type { Coloring, Store } from "../state";

export class CodePane {
  readonly icicle: Icicle;

  constructor(data: Data, store: Store) {
    const coloringSelect = $<HTMLSelectElement>("coloring");
    this.icicle = new Icicle($("icicle"), data, store);
    this.icicle.onHover = (text) => ($("icicle-readout").textContent = text || "click: select · double click: zoom · Escape: all");
    this.icicle.onHover("");
    const show = (): void => {
      coloringSelect.value = store.state.coloring;
      this.icicle.picture.redraw();
    };
    show();
    coloringSelect.onchange = () => store.set({ coloring: coloringSelect.value as Coloring });
    store.on(["coloring", "node"], show);
  }

  show({ a, b }: Comparison): void {
    this.icicle.show(a, b);
  }
}
