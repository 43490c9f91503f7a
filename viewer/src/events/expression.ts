// Derived metrics of the timeline: the language that they are typed in, and its errors.
//
//   expression = product { ("+" | "-") product }
//   product    = factor { ("*" | "/") factor }
//   factor     = NUMBER | "-" factor | "(" expression ")" | "dt" | COUNTER
//              | ("threads" | "time" | "calls" | "duration") "(" [NAME] ")"      NAME only may be left out of threads()
//              | ("accesses" | "remote" | "reads" | "writes") "(" [RANKS "," RANKS] ")"     NUMA nodes: of the task, of its data
//              | ("bytes" | "received" | "messages" | "in_flight") "(" [RANKS "," RANKS] ")"     sender, receiver
//              | "d" "(" expression ")"
//              | ("sum" | "mean" | "min" | "max") "(" expression ")"
//              | "on" "(" RANKS "," expression ")"
//   NAME       = a state, a function or a region; in quotation marks if it has other characters than letters, digits, "_", ":" and "."; there
//                "*" stands for any characters
//   RANKS      = "*" | NUMBER [ "-" NUMBER ]
//   NUMBER     = digits, "." and an exponent
//
// An expression has a value for each interval of time. time, calls, bytes, received, messages and counters are totals: they grow, and are worth
// what they have come to at the end of the interval; d() is their increase in it, and dt its length in seconds. threads(x) is d(time(x))/dt,
// duration(x) is d(time(x))/d(calls(x)). All are sums over the threads, unless sum, mean, min or max combine a value of each thread.

export type Span = [number, number]; // ranks, from (included) to (excluded)
export type Series = "time" | "calls" | "bytes" | "received" | "messages" | "flight" | "counter" | Accessing;
export type Accessing = "accesses" | "remote" | "reads" | "writes"; // of tasks
/** Exponents of a unit. */
export interface Unit {
  seconds: number;
  bytes: number;
}
export type Expression =
  | { kind: "number"; value: number }
  | { kind: "dt" }
  | { kind: "operation"; operator: string; left: Expression; right: Expression }
  | { kind: "known" } // threads of which something is known
  | { kind: "series"; series: Series; name: string; from: Span | null; to: Span | null }
  | { kind: "difference"; of: Expression }
  | { kind: "over"; how: "sum" | "mean" | "min" | "max"; of: Expression }
  | { kind: "on"; ranks: Span | null; of: Expression };

/** What may be named. */
export interface Names {
  states: string[];
  functions: string[]; // and regions
  counters: { name: string; unit: string }[];
  hasTasks?: boolean; // sums of iterations without events do not tell them from computing
  hasNodes?: boolean; // NUMA nodes of tasks and of their data
  hasNoPairs?: boolean; // of messages: the trace is larger than the page
  hasSenders?: boolean; // nevertheless: of all messages
}

export class ExpressionError extends Error {
  constructor(
    message: string,
    readonly at: number, // characters
    readonly length = 1,
  ) {
    super(message);
  }
}

const ofName = ["threads", "time", "calls", "duration"],
  ofRanks = ["bytes", "received", "messages", "in_flight"],
  ofNodes = ["accesses", "remote", "reads", "writes"],
  ofThreads = ["sum", "mean", "min", "max"],
  functions = [...ofName, ...ofRanks, ...ofNodes, ...ofThreads, "d", "on"];
const longest = 500,
  deepest = 40;

interface Token {
  kind: "number" | "name" | "text" | "sign" | "end";
  text: string;
  at: number;
  length: number;
}
/** A part, whether it is a total, and its unit; numbers have none and go with any. */
interface Typed {
  of: Expression;
  isTotal: boolean;
  isNumber: boolean;
  unit: Unit;
  at: number;
}

const plain: Unit = { seconds: 0, bytes: 0 };

function tokensOf(source: string): Token[] {
  const list: Token[] = [],
    pattern = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_](?:[\w.]|::)*)|"([^"]*)"|([-+*/(),]))/y;
  while (pattern.lastIndex < source.trimEnd().length) {
    const from = pattern.lastIndex,
      match = pattern.exec(source);
    if (!match) {
      const at = from + /^\s*/.exec(source.slice(from))![0].length;
      if (source[at] === '"') throw new ExpressionError('the name has no second "', at, source.length - at);
      throw new ExpressionError(`"${String.fromCodePoint(source.codePointAt(at)!)}" has no meaning here`, at);
    }
    const [whole, number, name, text, sign] = match,
      length = whole.trimStart().length,
      at = from + whole.length - length;
    list.push({
      kind: number !== undefined ? "number" : name !== undefined ? "name" : text !== undefined ? "text" : "sign",
      text: number ?? name ?? text ?? sign!,
      at,
      length,
    });
  }
  list.push({ kind: "end", text: "the end", at: source.trimEnd().length, length: 1 });
  return list;
}

/** How many letters must change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let k = 1; k <= b.length; ++k) next.push(Math.min(next[k - 1]! + 1, row[k]! + 1, row[k - 1]! + (a[i - 1] === b[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** "; do you mean X?", if something is like it. */
export function nearest(wanted: string, names: string[]): string {
  const low = wanted.toLowerCase().slice(0, 60);
  let best = "",
    least = Math.max(2, low.length * 0.4);
  for (const name of names.slice(0, 5000)) {
    const own = name.toLowerCase().slice(0, 60),
      d = own.startsWith(low) ? 0.5 : distance(low, own);
    if (d <= least && (d < least || !best)) [best, least] = [name, d];
  }
  return best ? `; do you mean ${/^[\w:.]+$/.test(best) ? best : `"${best}"`}?` : "";
}

/** A name with "*" for any characters. */
export function matches(pattern: string, name: string): boolean {
  if (!pattern.includes("*")) return pattern === name;
  const parts = pattern.split("*");
  if (!name.startsWith(parts[0]!)) return false;
  let at = parts[0]!.length;
  for (const part of parts.slice(1, -1)) {
    at = name.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return name.length - at >= parts.at(-1)!.length && name.endsWith(parts.at(-1)!);
}

class Parser {
  private at = 0;
  private depth = 0;
  constructor(
    private readonly tokens: Token[],
    private readonly names: Names,
  ) {}

  whole(): Typed {
    const typed = this.sum();
    if (this.now.kind !== "end") this.fail(`${this.shown()} is too much: an operator should be before it`);
    return typed;
  }

  private get now(): Token {
    return this.tokens[this.at]!;
  }
  private shown(token = this.now): string {
    return token.kind === "end" ? "the end" : `"${token.text}"`;
  }
  private fail(message: string, token = this.now): never {
    throw new ExpressionError(message, token.at, token.length);
  }
  private is(sign: string): boolean {
    return this.now.kind === "sign" && this.now.text === sign;
  }
  private take(sign: string): void {
    if (!this.is(sign)) this.fail(`"${sign}" should be here, not ${this.shown()}`);
    ++this.at;
  }

  private sum(): Typed {
    let left = this.product();
    while (this.is("+") || this.is("-")) {
      const token = this.tokens[this.at++]!,
        right = this.product();
      if (!left.isNumber && !right.isNumber && (left.unit.seconds !== right.unit.seconds || left.unit.bytes !== right.unit.bytes))
        this.fail(`${unitWords(left.unit)} and ${unitWords(right.unit)} cannot be added`, token);
      left = {
        of: { kind: "operation", operator: token.text, left: left.of, right: right.of },
        isTotal: (left.isTotal || left.isNumber) && (right.isTotal || right.isNumber) && (left.isTotal || right.isTotal),
        isNumber: left.isNumber && right.isNumber,
        unit: left.isNumber ? right.unit : left.unit,
        at: left.at,
      };
    }
    return left;
  }

  private product(): Typed {
    let left = this.factor();
    while (this.is("*") || this.is("/")) {
      const operator = this.tokens[this.at++]!.text,
        right = this.factor(),
        sign = operator === "*" ? 1 : -1;
      left = {
        of: { kind: "operation", operator, left: left.of, right: right.of },
        isTotal: (left.isTotal && right.isNumber) || (operator === "*" && left.isNumber && right.isTotal),
        isNumber: left.isNumber && right.isNumber,
        unit: { seconds: left.unit.seconds + sign * right.unit.seconds, bytes: left.unit.bytes + sign * right.unit.bytes },
        at: left.at,
      };
    }
    return left;
  }

  private factor(): Typed {
    const token = this.now;
    if (++this.depth > deepest) this.fail("the expression is nested too deeply");
    try {
      ++this.at;
      if (token.kind === "number") return { of: { kind: "number", value: Number(token.text) }, isTotal: false, isNumber: true, unit: plain, at: token.at };
      if (token.kind === "sign" && token.text === "-") {
        const typed = this.factor();
        return { ...typed, of: { kind: "operation", operator: "-", left: { kind: "number", value: 0 }, right: typed.of }, at: token.at };
      }
      if (token.kind === "sign" && token.text === "(") {
        const typed = this.sum();
        this.take(")");
        return typed;
      }
      if (token.kind === "name" && token.text === "dt")
        return { of: { kind: "dt" }, isTotal: false, isNumber: false, unit: { seconds: 1, bytes: 0 }, at: token.at };
      if (token.kind === "name" && this.is("(")) return this.call(token);
      if (token.kind === "name" || token.kind === "text") return this.counter(token);
      --this.at;
      this.fail(`a value should be here, not ${this.shown()}`);
    } finally {
      --this.depth;
    }
  }

  private counter(token: Token): Typed {
    const counter = this.names.counters.find(({ name }) => name === token.text);
    if (counter) {
      const unit = { seconds: counter.unit === "ns" ? 1 : 0, bytes: counter.unit === "bytes" ? 1 : 0 };
      return { of: series("counter", token.text), isTotal: true, isNumber: false, unit, at: token.at };
    }
    if (functions.includes(token.text)) this.fail(`${token.text} needs parentheses: ${token.text}(...)`, token);
    const isPlace = [...this.names.states, ...this.names.functions].includes(token.text);
    if (isPlace) this.fail(`${token.text} is where threads are: ask for threads(${token.text}), time(...), calls(...) or duration(...) of it`, token);
    this.fail(
      `there is no counter "${token.text}"${nearest(token.text, [...this.names.counters.map(({ name }) => name), ...functions.map((name) => name + "()"), "dt"])}`,
      token,
    );
  }

  private call(token: Token): Typed {
    const name = token.text;
    if (!functions.includes(name)) this.fail(`there is no ${name}()${nearest(name, functions)}`, token);
    this.take("(");
    const typed = this.arguments(token);
    this.take(")");
    return { ...typed, at: token.at };
  }

  private arguments(token: Token): Typed {
    const name = token.text,
      typed = (of: Expression, isTotal: boolean, seconds = 0, bytes = 0): Typed => ({ of, isTotal, isNumber: false, unit: { seconds, bytes }, at: token.at });
    if (this.names.hasNoPairs && ofRanks.includes(name) && name !== "received" && (name === "in_flight" || !this.names.hasSenders))
      this.fail(`${name}() needs both ends of messages, which are not looked for in a trace that is larger than the page: received() is known`, token);
    if (this.names.hasNoPairs && ofNodes.includes(name)) this.fail(`${name}() is not known of a trace that is larger than the page`, token);
    if (ofName.includes(name)) {
      if (name === "threads" && this.is(")")) return typed({ kind: "known" }, false);
      const place = this.place(),
        time = series("time", place),
        calls = series("calls", place);
      if ((name === "calls" || name === "duration") && place === "computing")
        this.fail("computing is not called: threads(computing) and time(computing) are known", this.tokens[this.at - 1]!);
      if ((name === "calls" || name === "duration") && place === "task")
        this.fail("tasks are no calls: threads(task) and time(task) are known, and their statistics are below", this.tokens[this.at - 1]!);
      if (name === "time") return typed(time, true, 1);
      if (name === "calls") return typed(calls, true);
      if (name === "threads") return typed(quotient(difference(time), { kind: "dt" }), false);
      return typed(quotient(difference(time), difference(calls)), false, 1);
    }
    if (ofRanks.includes(name) || ofNodes.includes(name)) {
      if (ofNodes.includes(name) && !this.names.hasNodes) this.fail("no NUMA nodes of tasks and of their data are known", token);
      let from: Span | null = null,
        to: Span | null = null;
      if (!this.is(")")) {
        from = this.ranks(ofNodes.includes(name) ? "node" : "rank");
        this.take(",");
        to = this.ranks(ofNodes.includes(name) ? "node" : "rank");
      }
      if (name === "in_flight") return typed(quotient(difference(series("flight", "", from, to)), { kind: "dt" }), false);
      return typed(series(name as Series, "", from, to), true, 0, name === "bytes" || name === "received" ? 1 : 0);
    }
    let ranks: Span | null = null;
    if (name === "on") {
      ranks = this.ranks();
      this.take(",");
    }
    const inner = this.sum();
    if (name === "d") {
      if (!inner.isTotal) {
        const last = this.tokens[this.at - 1]!;
        throw new ExpressionError(
          "d() is the increase of a total: of time(), calls(), bytes(), received(), messages(), accesses(), a counter, or a sum of these",
          inner.at,
          last.at + last.length - inner.at,
        );
      }
      return { ...inner, of: difference(inner.of), isTotal: false };
    }
    if (name === "on") return { ...inner, of: { kind: "on", ranks, of: inner.of } };
    return { ...inner, of: { kind: "over", how: name as "sum", of: inner.of }, isNumber: false };
  }

  private place(): string {
    const token = this.now,
      { states, functions: known } = this.names;
    if (token.kind !== "name" && token.kind !== "text") this.fail(`a state, function or region should be here, not ${this.shown()}`);
    ++this.at;
    // "*" is for names that are not known beforehand.
    if (token.text.includes("*") && !known.some((name) => matches(token.text, name)) && states.some((name) => matches(token.text, name)))
      this.fail(`${token.text} is no function or region; states are named one by one, such as ${states.find((name) => matches(token.text, name))}`, token);
    if (![...states, ...known].some((name) => matches(token.text, name)))
      this.fail(`there is no state, function or region "${token.text}"${nearest(token.text, [...states, ...known])}`, token);
    return token.text;
  }

  private ranks(what = "rank"): Span | null {
    const number = (): number => {
      const token = this.now;
      if (token.kind !== "number" || !/^\d+$/.test(token.text)) this.fail(`a ${what} should be here (3, 0-7 or *), not ${this.shown()}`);
      ++this.at;
      return Number(token.text);
    };
    if (this.is("*")) {
      ++this.at;
      return null;
    }
    const token = this.now,
      from = number();
    if (!this.is("-")) return [from, from + 1];
    ++this.at;
    const to = number();
    if (to < from) this.fail(`${what}s ${from}-${to}: the last one is before the first one`, token);
    return [from, to + 1];
  }
}

const series = (of: Series, name: string, from: Span | null = null, to: Span | null = null): Expression => ({ kind: "series", series: of, name, from, to });
const difference = (of: Expression): Expression => ({ kind: "difference", of });
const quotient = (left: Expression, right: Expression): Expression => ({ kind: "operation", operator: "/", left, right });

export function unitWords({ seconds, bytes }: Unit): string {
  const power = (word: string, n: number): string => (n > 1 ? `${word}^${n}` : word),
    above = [...(bytes > 0 ? [power("bytes", bytes)] : []), ...(seconds > 0 ? [power("s", seconds)] : [])].join(" "),
    below = [...(bytes < 0 ? [power("bytes", -bytes)] : []), ...(seconds < 0 ? [power("s", -seconds)] : [])].join(" ");
  return (above || (below ? "1" : "numbers")) + (below ? "/" + below : "");
}

/** @throws ExpressionError */
export function parsed(source: string, names: Names): { of: Expression; unit: Unit } {
  if (source.length > longest) throw new ExpressionError(`an expression has at most ${longest} characters`, longest, source.length - longest);
  if (source.trim() === "") throw new ExpressionError("there is nothing here", 0);
  const { of, unit } = new Parser(tokensOf(source), names).whole();
  return { of, unit };
}

/** Whether it needs single events: then sums of iterations without events do not help. */
export function needsEvents(e: Expression, names: Names): boolean {
  if (e.kind === "operation") return needsEvents(e.left, names) || needsEvents(e.right, names);
  if (e.kind === "series") return e.series !== "time" || !names.states.includes(e.name) || (names.hasTasks === true && ["computing", "task"].includes(e.name));
  return "of" in e ? needsEvents(e.of, names) : false;
}

/** A series that an expression is made of. */
export interface Needed {
  series: Series;
  name: string;
  from: Span | null;
  to: Span | null;
  isTotal: boolean; // not its increase only
}
export function seriesIn(e: Expression, isTotal = true): Needed[] {
  if (e.kind === "operation") return [...seriesIn(e.left, isTotal), ...seriesIn(e.right, isTotal)];
  if (e.kind === "series") return [{ series: e.series, name: e.name, from: e.from, to: e.to, isTotal }];
  return "of" in e ? seriesIn(e.of, isTotal && e.kind !== "difference") : [];
}
