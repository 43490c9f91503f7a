// The profiles of selections A and B. Estimates come at once. If the page is served, what the profile holds of single iterations follows.
import type { Data } from "./data";
import { messageOf } from "./dom";
import type { Known } from "./known";
import { SelectionProfile } from "./profile";
import { isRange, isScattered, type Selection } from "./selection";
import type { Store } from "./state";

export class Comparison {
  a!: SelectionProfile;
  b: SelectionProfile | null = null;
  /** Why the profile could not be read any better; empty if it could. */
  failure = "";
  onProfiles: () => Promise<void> = async () => {};
  onFailure: () => Promise<void> = async () => {};
  private run = 0;
  private asking = false;

  constructor(
    private data: Data,
    private store: Store,
  ) {
    store.on(["a", "b", "row", "sorting"], () => void this.compute());
  }

  async compute(): Promise<void> {
    const mine = ++this.run,
      s = this.store.state;
    const show = async (knownA: Known | null, knownB: Known | null): Promise<void> => {
      const a = await this.profileOf(s.a, knownA),
        b = s.b ? await this.profileOf(s.b, knownB) : null;
      if (mine !== this.run) return;
      this.a = a;
      this.b = b;
      await this.onProfiles();
    };
    this.failure = "";
    const asked = [s.a, s.b].map((x) => this.data.header.served && x !== null && isRange(this.data, x) && !isScattered(x));
    await show(null, null);
    // One question at a time, so that dragging does not make a queue of them.
    if ((!asked[0] && !asked[1]) || this.asking) return;
    this.asking = true;
    try {
      const known = await Promise.all([s.a, s.b].map((x, i) => (asked[i] ? this.data.knownOf(x!) : null)));
      if (mine === this.run) await show(known[0]!, known[1]!);
    } catch (error) {
      this.failure = messageOf(error);
      if (mine === this.run) await this.onFailure();
    } finally {
      this.asking = false;
      if (mine !== this.run) void this.compute();
    }
  }

  private async profileOf(selection: Selection, known: Known | null): Promise<SelectionProfile> {
    const clustered = selection.phase >= 0 && this.data.header.phases[selection.phase]!.clusters && !known;
    return new SelectionProfile(
      this.data,
      selection,
      this.store.state.row,
      clustered ? await this.data.parts(selection.phase) : null,
      await this.data.pools(),
      known,
    );
  }
}
