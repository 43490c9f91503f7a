// About this profile: the job, how it was measured, remarks, and stored error bounds.
import type { Data } from "../data";
import { $ } from "../dom";
import { escaped, quantity } from "../format";
import { shortcomings } from "../words";

export function showDetails(data: Data): void {
  const { header } = data,
    { job } = header;
  const accuracyRows = header.phases.flatMap((p, i) =>
    Object.entries(p.accuracy ?? {}).map(([name, v]) => {
      const m = header.metrics.find((x) => x.name === name),
        u = m?.unit ?? (name === "time" ? "ns" : "");
      return `<tr><td>${escaped(data.phaseName(i))}</td><td>${escaped(m?.label ?? name)}</td><td>${quantity(v.largest_error, u)}</td><td>${quantity(v.sum_of_errors / Math.max(1, v.cells), u)}</td></tr>`;
    }),
  );
  const rows = [
    ["command", header.tool ? "" : job.command],
    ["folder", job.folder],
    ["hosts", header.locations.hosts.filter((host) => host).join(", ")],
    ["MPI", job.mpi],
    ["libprofile", job.version],
  ].filter(([, text]) => text);
  const configuration = job.configuration ? `<tr><td>configuration</td><td><pre>${escaped(job.configuration)}</pre></td></tr>` : "";
  $("about").innerHTML =
    `<table>${rows.map(([name, text]) => `<tr><td>${name}</td><td>${escaped(text!)}</td></tr>`).join("")}${configuration}${shortcomings(data)
      .remarks.map((t) => `<tr><td>remark</td><td>${escaped(t)}</td></tr>`)
      .join("")}</table>` +
    (accuracyRows.length
      ? `<h2>Stored error bound of single iterations</h2><p class="dim">The profile has the MPI call paths of every iteration with at most this error (libprofile report --format json prints them). ${header.served ? "The trees use them." : "The trees of this page use clusters; libprofile view --serve uses the iterations."}</p><table><tr><td>phase</td><td>metric</td><td>largest error</td><td>mean error</td></tr>${accuracyRows.join("")}</table>`
      : "");
}
