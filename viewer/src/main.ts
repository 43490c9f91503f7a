// Puts the page together: reads the data, makes the panes, and shows the profiles of the selections in them.
import { clusterName } from "./clusters";
import { Comparison } from "./comparison";
import { Data } from "./data";
import { $, messageOf } from "./dom";
import { percent, quantity } from "./format";
import { errorOfDifference } from "./profile";
import { showAccuracy } from "./panes/accuracy";
import { CallPathsPane } from "./panes/call_paths";
import { CodePane } from "./panes/code";
import { showDetails } from "./panes/details";
import { connectExports } from "./panes/exports";
import { connectFindings } from "./panes/findings";
import { IterationsPane } from "./panes/iterations";
import { connectLink, connectTheme, showJob } from "./panes/job";
import { connectKeys } from "./panes/keys";
import { MetricsPane } from "./panes/metrics";
import { RanksPane } from "./panes/ranks";
import { connectRegions } from "./panes/regions";
import { connectSelection } from "./panes/selection";
import { SourcePane } from "./panes/source";
import { Store } from "./state";

async function start(): Promise<void> {
  const data = new Data();
  await data.load();
  // The link may name a map that has to be asked for first.
  const wanted = new URLSearchParams(location.hash.slice(1)),
    phase = data.header.phases.findIndex((p) => p.iterations && p.name === wanted.get("phase"));
  await data.obtainMap(phase, wanted.get("map") ?? "").catch(() => undefined);
  const store = new Store(data);
  data.stayInTouch();

  showJob(data);
  connectFindings(data, store);
  const iterations = new IterationsPane(data, store),
    comparison = new Comparison(data, store),
    metrics = new MetricsPane(data, store, iterations),
    callPaths = new CallPathsPane(data, store),
    ranks = new RanksPane(data, store, comparison),
    source = new SourcePane(data, store, comparison),
    code = new CodePane(data, store),
    { timeline } = iterations,
    { icicle } = code;
  connectSelection(data, store);
  connectTheme(store, () => [timeline, icicle].forEach((view) => view?.picture.redraw()));
  connectLink(store);
  connectRegions(data, store, iterations);
  connectExports(data, store, iterations, icicle.picture, callPaths, source, [metrics.tree, ranks.tree]);
  connectKeys();
  showDetails(data);

  comparison.onFailure = () => showAccuracy(data, comparison);
  comparison.onProfiles = () => {
    for (const pane of [metrics, callPaths, ranks, code]) pane.show(comparison);
    void source.show();
    return showAccuracy(data, comparison);
  };
  await Promise.all([comparison.compute(), timeline?.load()]);
  for (const pane of [callPaths, metrics, ranks]) pane.showFirst(comparison);
  // For scripts and tests.
  Object.assign(window, {
    libprofile: {
      data,
      store,
      timeline,
      icicle,
      trees: { metricTree: metrics.tree, pathTree: callPaths.tree, functionTree: callPaths.functions, systemTree: ranks.tree },
      profile: () => comparison.a,
      other: () => comparison.b,
      format: { quantity, percent },
      errorOfDifference,
      clusterName,
    },
  });
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch((error: unknown) => {
  $("incomplete").hidden = false;
  $("incomplete").textContent =
    `This page cannot show its profile: ${messageOf(error)}. Write it again with libprofile view. The browser must be from 2023 or newer.`;
  document.documentElement.dataset.ready = "failed";
  console.error(error);
});
