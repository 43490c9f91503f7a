// The panes of one profile, and what connects them.
import { clusterName } from "./clusters";
import { Comparison } from "./comparison";
import { Data } from "./data";
import { percent, quantity } from "./format";
import { errorOfDifference } from "./profile";
import { showAccuracy } from "./panes/accuracy";
import { CallPathsPane } from "./panes/call_paths";
import { CodePane } from "./panes/code";
import { showDetails } from "./panes/details";
import { connectExports } from "./panes/exports";
import { connectCauses } from "./panes/causes";
import { connectFindings } from "./panes/findings";
import { EventsPane } from "./events/pane";
import { GroupsPane } from "./panes/groups";
import { IterationsPane } from "./panes/iterations";
import { connectLink, connectTheme, showJob } from "./panes/job";
import { showMachine } from "./panes/machine";
import { MetricsPane } from "./panes/metrics";
import { RanksPane } from "./panes/ranks";
import { connectRegions } from "./panes/regions";
import { connectSelection } from "./panes/selection";
import { SourcePane } from "./panes/source";
import { StripPane } from "./panes/strip";
import { Renumbering } from "./renumbering";
import { Store } from "./state";

export type Page = Awaited<ReturnType<typeof makePage>>;

/** @param before the page that this one renews, whose elements are away already */
export async function makePage(before: { data: Data; store: Store } | null) {
  const data = new Data();
  await data.load();
  // A map that was chosen, or that the link names, may have to be asked for first.
  const wanted = new URLSearchParams(location.hash.slice(1)),
    phase = before
      ? new Renumbering(before.data, data).phase(before.store.state.phase)
      : data.header.phases.findIndex((p) => p.iterations && p.name === wanted.get("phase"));
  await data.obtainMap(phase, before?.store.state.map ?? wanted.get("map") ?? "").catch(() => undefined);
  const store = new Store(data, before?.store),
    end = new AbortController();

  showJob(data);
  connectFindings(data, store);
  const iterations = new IterationsPane(data, store),
    { strip } = new StripPane(data, store),
    comparison = new Comparison(data, store),
    metrics = new MetricsPane(data, store, iterations),
    callPaths = new CallPathsPane(data, store),
    ranks = new RanksPane(data, store, comparison),
    source = new SourcePane(data, store, comparison),
    code = new CodePane(data, store),
    groups = new GroupsPane(data, store),
    events = new EventsPane(data, store),
    machine = showMachine(data),
    { timeline } = iterations,
    { icicle } = code;
  connectCauses(data, store);
  connectSelection(data, store);
  connectTheme(
    store,
    () => {
      [timeline, strip, icicle].forEach((view) => view?.picture.redraw());
      events.timeline?.renew();
      groups.redraw();
    },
    end.signal,
  );
  connectLink(store);
  connectRegions(data, store, iterations);
  connectExports(data, store, iterations, strip.picture, icicle.picture, callPaths, source, groups, events, machine, [metrics.tree, ranks.tree]);
  showDetails(data);

  comparison.onFailure = async () => void (end.signal.aborted || (await showAccuracy(data, comparison)));
  comparison.onProfiles = async () => {
    if (end.signal.aborted) return;
    for (const pane of [metrics, callPaths, ranks, code]) pane.show(comparison);
    void source.show();
    await showAccuracy(data, comparison);
  };
  await Promise.all([comparison.compute(), timeline?.load(), strip.load(), groups.loaded, events.load(), machine]);
  for (const pane of [callPaths, metrics, ranks]) pane.showFirst(comparison);
  // For scripts and tests.
  Object.assign(window, {
    libprofile: {
      data,
      store,
      timeline,
      strip,
      icicle,
      groups,
      events,
      trees: { metricTree: metrics.tree, pathTree: callPaths.tree, functionTree: callPaths.functions, systemTree: ranks.tree },
      profile: () => comparison.a,
      other: () => comparison.b,
      format: { quantity, percent },
      errorOfDifference,
      clusterName,
    },
  });
  return {
    data,
    store,
    metrics,
    callPaths,
    ranks,
    source,
    groups,
    icicle,
    pictures: [timeline, strip, icicle, events.timeline].flatMap((view) => (view ? [view.picture] : [])),
    end: () => {
      end.abort();
      store.end();
    },
  };
}
