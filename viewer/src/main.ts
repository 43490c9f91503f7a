// Shows the profile of the page, or several runs side by side; if it is that of a job that runs, also what comes later.
import { $, messageOf } from "./dom";
import { follow } from "./live";
import { makePage } from "./page";
import { connectKeys } from "./panes/keys";
import { stayInTouch } from "./server";
import { showSideBySide } from "./side/page";
import type { SideHeader } from "./side/runs";

async function start(): Promise<void> {
  const { served, comparison } = JSON.parse($("header").textContent!) as { served: boolean; comparison?: SideHeader };
  if (comparison) {
    await showSideBySide(comparison);
    if (served) stayInTouch();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
    return;
  }
  const page = await makePage(null);
  connectKeys();
  if (page.data.header.served) stayInTouch();
  if (page.data.header.snapshot) follow(page);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch((error: unknown) => {
  $("incomplete").hidden = false;
  $("incomplete").textContent =
    `This page cannot show its profile: ${messageOf(error)}. Write it again with libprofile view. The browser must be from 2023 or newer.`;
  document.documentElement.dataset.ready = "failed";
  console.error(error);
});
