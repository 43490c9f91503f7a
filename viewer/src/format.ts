// Numbers and names as people read them. Pure functions.

const blank = "\u202f"; // narrow, no line break

/** Rounds to so many decimals, a tie to the even digit, as printf does. */
export function fixed(value: number, decimals: number): string {
  // toFixed() rounds a tie up. Only multiples of 1 / 2^(decimals + 1) can be ties.
  const scaled = value * 10 ** decimals;
  const isTie = Number.isInteger(value * 2 ** (decimals + 1)) && Math.abs(scaled - Math.trunc(scaled)) === 0.5;
  return isTie ? ((2 * Math.round(scaled / 2)) / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
}

/** Three significant digits. */
export function digits(value: number): string {
  return fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

export function grouped(value: number): string {
  return fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");
}

// The rules of the text report (tools/text/layout.cpp). A test compares the two.

export function duration(ns: number): string {
  if (ns < 0) return "-" + duration(-ns);
  if (ns === 0) return "0" + blank + "s";
  if (ns < 999.5) return fixed(ns, 0) + blank + "ns";
  if (ns < 999.5e3) return digits(ns / 1e3) + blank + "µs";
  if (ns < 999.5e6) return digits(ns / 1e6) + blank + "ms";
  if (ns < 120e9) return digits(ns / 1e9) + blank + "s";
  const seconds = Math.floor(ns / 1e9),
    two = (n: number): string => String(n).padStart(2, "0");
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
}

function scaled(value: number, step: number, units: string[]): string {
  let unit = 0;
  for (; value >= 999.5 && unit + 1 < units.length; ++unit) value /= step;
  return (unit === 0 && step === 1024 ? fixed(value, 0) : digits(value)) + blank + units[unit]!;
}

export function quantity(value: number, unit: string): string {
  if (value < 0) return "-" + quantity(-value, unit);
  if (unit === "ns") return duration(value);
  if (unit === "bytes") return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
  if (value >= 1e7) return scaled(value / 1e6, 1000, ["M", "G", "T", "P", "E"]);
  return value < 100 && !Number.isInteger(value) ? fixed(value, value < 9.995 ? 2 : 1) : grouped(value);
}

/** With its sign: "+1.20 ms", "−1.20 ms"; 0 has none. */
export const signed = (value: number, unit: string): string => (value > 0 ? "+" : value < 0 ? "−" : "") + quantity(Math.abs(value), unit);

/** The number as the JSON report prints it, with its unit. */
export function exactly(value: number, unit: string): string {
  return (Number.isInteger(value) ? grouped(value) : value.toFixed(1)) + (unit ? blank + unit : "");
}

export function percent(share: number): string {
  const value = share * 100;
  return fixed(value, value !== 0 && value < 0.095 ? 2 : 1) + blank + "%";
}

/** "11.2x", where percents would be long. */
export function times(ratio: number): string {
  return ratio >= 1000 ? grouped(ratio) + "x" : Number(ratio.toPrecision(3)) + "x";
}

export function plural(n: number, one: string): string {
  return grouped(n) + " " + one + (n === 1 ? "" : "s");
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
}

/** A field of CSV. A spreadsheet must not take a text for a formula. */
export function csvText(text: string): string {
  const isFormula = /^[=+\-@\t]/.test(text);
  return isFormula || /[",\n]/.test(text) ? `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"` : text;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Leaves out what many names of a C++ program repeat. */
export function shortName(name: string): string {
  return name.replaceAll("(anonymous namespace)::", "");
}

/** A label in the middle of a sentence. */
export function within(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label;
}
