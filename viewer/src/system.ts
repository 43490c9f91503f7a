// The nodes of the system tree: all, hosts, NUMA nodes and cores where they are known, ranks, and the threads of ranks that have several.
// A rank is where its main thread was last seen.
import type { Header } from "./header";

export class SystemNodes {
  readonly parent: number[] = [];
  readonly name: string[] = [];
  readonly hint: string[] = [];
  readonly location: number[] = []; // -1 if it is none
  readonly rank: number[] = []; // -1 above ranks
  /** Hosts, NUMA nodes and cores. */
  readonly machine: number[];
  private nodeOf = new Map<string, number>();

  constructor(private locations: Header["locations"]) {
    this.add(-1, "all", "");
    const hosts = locations.hosts.map((host, i) => this.add(0, host || "(host unknown)", locations.machines[i] ?? ""));
    const threads = new Map<number, number>(),
      rankNode = new Map<number, number>();
    for (const rank of locations.rank) threads.set(rank, (threads.get(rank) ?? 0) + 1);
    locations.rank.forEach((rank, l) => {
      const several = threads.get(rank)! > 1,
        moves = locations.moves[l] ? `seen to move to another processor ${locations.moves[l]} times` : "",
        core = locations.core[l]!,
        thread = locations.thread[l]!;
      if (!rankNode.has(rank)) rankNode.set(rank, this.add(this.coreOf(l, hosts), "rank " + rank, several ? "" : moves, several ? -1 : l, rank));
      if (!several) return;
      const hint = [core < 0 ? "" : `last seen on core ${core}`, moves].filter((text) => text).join("; ");
      this.add(rankNode.get(rank)!, thread === 0 ? "main thread" : "thread " + thread, hint, l, rank);
    });
    this.machine = [...hosts, ...this.nodeOf.values()];
  }

  private add(parent: number, name: string, hint: string, location = -1, rank = -1): number {
    this.parent.push(parent);
    this.name.push(name);
    this.hint.push(hint);
    this.location.push(location);
    this.rank.push(rank);
    return this.parent.length - 1;
  }

  /** The node of the core, NUMA node or host where a location was last seen. */
  private coreOf(l: number, hosts: number[]): number {
    const host = this.locations.host[l]!,
      numa = this.locations.numa_node[l]!,
      core = this.locations.core[l]!;
    const level = (parent: number, key: string, name: string): number => {
      if (!this.nodeOf.has(key)) this.nodeOf.set(key, this.add(parent, name, ""));
      return this.nodeOf.get(key)!;
    };
    let node = hosts[host]!;
    if (numa >= 0) node = level(node, `${host}/${numa}`, "NUMA node " + numa);
    return core < 0 ? node : level(node, `${host}/${numa}/${core}`, "core " + core);
  }

  /** Sums of the values of locations by node. */
  summed(value: (location: number) => number): number[] {
    const sums = this.location.map((l) => (l < 0 ? 0 : value(l)));
    for (let n = sums.length - 1; n > 0; --n) sums[this.parent[n]!]! += sums[n]!;
    return sums;
  }
}
