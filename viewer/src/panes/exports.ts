// Buttons that save what a pane shows as a file.
import type { Data } from "../data";
import { baseName } from "../format";
import type { Store } from "../state";
import { save, type Picture } from "../surface";
import type { Tree } from "../tree";
import type { EventsPane } from "../events/pane";
import type { CallPathsPane } from "./call_paths";
import type { GroupsPane } from "./groups";
import type { IterationsPane } from "./iterations";
import type { SourcePane } from "./source";

type Content = string | Blob | Promise<string | Blob | undefined> | undefined;

const types: Record<string, string> = { svg: "image/svg+xml", png: "image/png", csv: "text/csv" };

/** `trees` are those of metrics and ranks. */
export function connectExports(
  data: Data,
  store: Store,
  iterations: IterationsPane,
  strip: Picture,
  icicle: Picture,
  callPaths: CallPathsPane,
  source: SourcePane,
  groups: GroupsPane,
  events: EventsPane,
  machine: Promise<string | undefined>,
  trees: [Tree, Tree],
): void {
  const { header } = data,
    program = baseName(header.job.command.split(" ")[0]!),
    timeline = iterations.timeline?.picture,
    [metrics, ranks] = trees;
  const unit = (): string => header.metrics[store.state.row]!.unit;
  const contents: Record<string, () => Content> = {
    "iterations.svg": () => timeline?.svg(),
    "iterations.png": () => timeline?.png(),
    "iterations.csv": () => iterations.csv(),
    "strip.svg": () => strip.svg(),
    "strip.png": () => strip.png(),
    "events.svg": () => events.picture()?.svg(),
    "events.png": () => events.picture()?.png(),
    "events.csv": () => events.csv(),
    "scatter.svg": () => events.scatter?.picture.svg(),
    "scatter.png": () => events.scatter?.picture.png(),
    "groups.svg": () => groups.picture().svg(),
    "groups.png": () => groups.picture().png(),
    "icicle.svg": () => icicle.svg(),
    "icicle.png": () => icicle.png(),
    "machine.svg": () => machine,
    "metrics.csv": () => metrics.csv("unit of the metric"),
    "callpaths.csv": () => callPaths.shown().csv(unit()),
    "source.csv": () => source.csv(),
    "ranks.csv": () => ranks.csv(unit()),
  };
  document.querySelectorAll<HTMLElement>("[data-export]").forEach((button) => {
    const name = button.dataset.export!,
      kind = name.split(".")[1]!;
    button.title = "Save as " + kind.toUpperCase();
    button.onclick = async () => {
      const content = await contents[name]!();
      if (content !== undefined) save(`${program}-${name}`, content, types[kind]);
    };
  });
}
