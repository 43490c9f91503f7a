// The JSON header of the page. Where a field is about a column, its value is the number of the column (columns.ts).

export interface Metric {
  name: string;
  unit: string;
  label: string;
  description: string;
  parent: number;
  time: boolean;
  column: number;
}
export interface CellColumns {
  counts: number;
  keys: number;
  mantissas: number;
  exponents: number;
}
export interface MapHeader {
  name: string;
  label: string;
  unit: string;
  description: string;
  exact: boolean;
  told: boolean;
  bounds: number[];
  levels: number;
  values?: number;
  spread: { minimum: number; twice_median: number; maximum: number; sum: number; slowest: number; ranks: number };
}
export interface PhaseHeader {
  name: string;
  /** Pools of samples: pools.ts. */
  samples: { counts: number[]; numbers: number; mixed: number; of_cluster: number; units: number[]; wall: boolean[]; times: number };
  kind: "outside" | "aggregate" | "iterations";
  wall: number[];
  inclusive: number[];
  instances: number[];
  frame?: boolean;
  iterations?: number;
  change?: string[];
  maps?: MapHeader[];
  left_out?: { name: string; label: string }[];
  clusters?: {
    counts: number[];
    lengths: number[];
    sizes: number;
    classes: number;
    times: number;
    deviations: number;
    members: number;
    kinds: number;
    rounded: boolean;
    cells: CellColumns;
  };
  inside?: { lengths: number[]; known: number[]; iterations: number; phases: number; counts: number; firsts: number; times: number } | null;
  /** Every so manyth begin of an iteration and the end of the last one, by rank, in units of ns; `counts` are iterations. */
  begins?: { unit: number; stride: number; counts: number[]; begins: number };
  accuracy?: Record<string, { largest_error: number; sum_of_errors: number; cells: number }>;
}
/** The lines of a function. A line has its number (0: unknown), its inclusive and own value, samples, calls, 1 for an estimate, what it
 *  calls most, and how far both values may be off (null: not known). */
export interface LinesHeader {
  function: string;
  own: number;
  inclusive: number;
  own_error: number | null;
  inclusive_error: number | null;
  samples: number;
  files: {
    name: string;
    note: string;
    lines: [number, number, number, number, number, number, string[], number | null, number | null][];
    text: { first: number; lines: string[] }[];
  }[];
}
/** A cause of lost time. Iterations and ranks are from (included) to (excluded), one range after the other; none for all. Phase -1 is the whole
 *  run. */
export interface Cause {
  kind: string;
  function: string;
  share: string;
  sentence: string;
  evidence: string[];
  gain: string;
  next: string;
  phase: number;
  iterations: number[];
  ranks: number[];
}
/** What traces say: rows of ranks, then of clusters. Contexts of spans are their number plus 1; 0 is no time of the rank. */
export interface StripHeader {
  point: number; // ns
  points: number; // of a row
  period: number; // ns between samples
  ranks: number[];
  begin: number[];
  end: number[];
  clusters: number[][];
  spans: number[]; // by row
  contexts: number;
  lengths: number;
  top: number; // the context from which depths count
  tree: { parent: number[]; name: string[]; node: number[]; class: ("computation" | "wait" | "synchronisation")[]; time: number[] };
  significant: { context: number; text: string; ranks: number[] }[]; // the weightiest first
  notes: string[];
}
/** How far ranks are from the rank `reference`. A point has ns behind, the rank; ns ahead, the rank; the mean and the largest share of calls without
 *  a partner, times `shares` plus 1 (0: not known), and the rank. */
export interface SkewHeader {
  reference: number;
  points: number;
  shares: number;
  values: number;
}
/** Groups of ranks that make the same calls; the first one is all ranks. */
export interface GroupsHeader {
  phase: number;
  iterations: number;
  window: number; // iterations in a point of a strip
  levels: string;
  distances: string[];
  remarks: string[];
  states: { name: string; letter: string }[];
  /** `ranks` from (included) to (excluded), one range after the other, none for all; `rows` those that it unfolds into. */
  groups: { name: string; ranks: number[]; count: number; sentence: string; rows: number[] }[];
  left_out: number; // smaller groups
  /** Of each group its strips dominating, outliers and use, then those of its rows: numbers of spans, and their length, state + 1 and ranks. */
  counts: number[];
  spans: number;
  skew: SkewHeader | null;
  /** Callers before what they call; null without the order of calls. */
  merged: { calls: { depth: number; name: string; class: "same" | "differs" | "not all"; ranks: string; times: string }[]; left_out: number } | null;
}
/** What threads did, event by event: rows are locations. Lists of columns have the rows one after the other; a row's time on the axis is
 *  begin + own time * axis / own. The formats are those of tools/view/timeline_columns.cpp. */
export interface EventsHeader {
  end: number; // ns, on the axis
  states: { key: string; name: string }[]; // the first one is computing
  types: { function: string; source: string }[]; // of tasks, the one with most time first
  rows: Record<"parts" | "intervals" | "messages" | "inners" | "stretches" | "tasks" | "runs" | "begin" | "own" | "axis", number[]> & {
    complete: boolean[];
    collectives?: number[];
    counts?: number[];
  }; // all parts are there
  parts: Record<"gaps" | "lengths" | "phases" | "numbers" | "reasons", number>;
  intervals: Record<"begins" | "lengths" | "nodes" | "states", number>;
  messages: Record<"calls" | "kinds" | "partners" | "communicators" | "tags" | "bytes" | "rows" | "others", number>;
  collectives?: Record<"calls" | "communicators" | "numbers" | "lasts" | "later" | "spans", number>; // collective_columns.cpp
  counts?: Record<"counters" | "gaps" | "increases", number>; // readings of counters; counter_columns.cpp
  counters?: { name: string; unit: string }[];
  communicators?: { name: string; ranks: number }[]; // with collective operations; ranks: how many, 0 if that is not known
  inners: Record<"begins" | "lengths" | "phases" | "numbers", number>;
  stretches: Record<"gaps" | "lengths" | "phases" | "firsts" | "counts" | "exact" | "sums", number>;
  tasks?: Record<"numbers" | "creators" | "created" | "nodes" | "flags" | "types" | "own" | "dependences", number>; // task_columns.cpp
  dependences?: Record<"kinds" | "addresses", number>;
  runs?: Record<"begins" | "lengths" | "tasks" | "nodes" | "flags", number>;
  task_nodes?: Record<"nodes", number>; // NUMA nodes, by task; task_place_columns.cpp
  data_nodes?: Record<"nodes", number>; // the same, by dependence
  ran_on?: { intervals: number; runs?: number }; // NUMA nodes, by interval and by run; ran_on_column.cpp
  notes: string[];
  /** Events are not in the page, which asks for them: threads that have some, by location. */
  indexed?: boolean[];
  messages_known?: boolean; // then: all that are received have their senders
  called?: number[]; // then: nodes of calls and regions, that with most time first
  /** Of a picture that was asked for: rows whose events are too many have pixels. */
  pixels?: PixelColumns;
  count?: number; // pixels of a row
  window?: [number, number]; // ns, on the axis: all is known of this time
  exact?: boolean; // pixels are
}
/** Runs of equal pixels: of each location its number of them, then columns. */
export interface PixelColumns {
  runs: number[];
  lengths: number;
  states: number; // 0: nothing is known; else 1 + 2 * state + (at least half of the time is known)
  longest: number; // call, in quarters of an octave; 0: there is none
  classes?: number; // of tasks: TaskColors, of their types
  passing?: number; // with a filter. 0: nothing passes; else 1 + the state, or class, that most of what passes is in
  passing_longest?: number; // the same of what passes
}
/** What users wrote at times of the timeline; the file beside the profile, and what is wrong with it. */
export interface AnnotationsHeader {
  file: string;
  problem: string;
  list: unknown;
}
export interface Header {
  tool?: string; // of a profile of another tool: what it is
  served: boolean; // by libprofile view --serve: the page can ask for what it does not have
  snapshot: number; // of a job that runs: which state of it this is; 0: there is one only
  job: {
    command: string;
    executable: string;
    folder: string;
    mpi: string;
    version: string;
    line: string;
    ranks: number;
    configuration: string;
    complete: boolean;
    losses: { group: "missing" | "loss" | "remark"; kind: string; sentence: string }[];
  };
  locations: {
    rank: number[];
    thread: number[];
    host: number[];
    wall: number[];
    hosts: string[];
    core: number[]; // where it was last seen, -1 if unknown
    numa_node: number[]; // the same
    moves: number[]; // to another processor
    machines: string[]; // what the hosts are
  };
  metrics: Metric[];
  columns: string[];
  nodes: { parent: number[]; kind: string[]; name: string[]; place: string[]; file: string[]; row: number[] };
  /** Named regions and instrumented functions. `map` is the name of the value map of a region that may have one, `counted` has an entry per
   *  counter for named regions. */
  regions: {
    rows: { kind: string; name: string; map: string; place: string; visits: number; time: number; own: number; counted: number[] }[];
    counters: string[];
    functions_left_out: number;
  };
  /** Of the hottest functions in the whole run, by time; none if the page is served. */
  lines: LinesHeader[];
  totals: CellColumns;
  phases: PhaseHeader[];
  causes: { sentence: string; scope: string[]; untold: string[]; list: Cause[] };
  groups?: GroupsHeader | null;
  strip: StripHeader | null;
  events?: EventsHeader | null; // LIBPROFILE_TRACE=events
  annotations?: AnnotationsHeader;
  machine?: { picture: number; notes: string[] } | null; // the column is SVG
  begins_known: boolean; // of the iterations of all ranks
  laid_end: number; // ns: where the last iteration ends if iterations lie end to end
  clock_limits: string[]; // of comparing the times of ranks
  /** What `libprofile report` says on its first screen. */
  answers: {
    list: { key: string; question: string; sentences: string[] }[];
    nameless: string[];
    parts: { name: string; share: number; text: string; range: string }[];
    hottest: { text: string; function: string }[];
  };
}
