// Numbers and names as people read them. Pure functions.

const blank = "\u202f"; // narrow, no line break

export function digits(value: number, significant = 3): string {
  if (value === 0 || !isFinite(value)) return String(value);
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, significant - Math.max(before, 1)));
}

export function grouped(value: number): string {
  const text = String(Math.round(value));
  return text.replace(/\B(?=(\d{3})+$)/g, blank);
}

export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size === 0) return "0";
  if (size < 1e3) return digits(ns) + blank + "ns";
  if (size < 1e6) return digits(ns / 1e3) + blank + "µs";
  if (size < 1e9) return digits(ns / 1e6) + blank + "ms";
  if (size < 120e9) return digits(ns / 1e9) + blank + "s";
  if (size < 7200e9) return digits(ns / 60e9) + blank + "min";
  return digits(ns / 3600e9) + blank + "h";
}

export function quantity(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  const size = Math.abs(value);
  const bytes = unit === "bytes";
  if (size < 1000 && Number.isInteger(value)) return String(value) + (bytes ? blank + "B" : "");
  const steps: [number, string][] = bytes
    ? [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]
    : [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"], [1, ""]];
  for (const [step, name] of steps)
    if (size >= step) return digits(value / (step === 1e4 ? 1e3 : step)) + (name ? blank + name : "");
  return digits(value) + (bytes ? blank + "B" : "");
}

/** The number as the JSON report prints it, with its unit. */
export function exactly(value: number, unit: string): string {
  return (Number.isInteger(value) ? grouped(value) : value.toFixed(1)) + (unit ? blank + unit : "");
}

export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return "0" + blank + "%";
  if (Math.abs(value) < 0.01) return "<0.01" + blank + "%";
  return (Math.abs(value) < 0.1 ? value.toPrecision(1) : Math.abs(value) >= 100 ? grouped(value) : value.toFixed(1)) + blank + "%";
}

export function plural(n: number, one: string): string {
  return grouped(n) + " " + one + (n === 1 ? "" : "s");
}

/** "0-3, 7" of sorted numbers; at most a few groups. */
export function ranges(list: number[], most = 6): string {
  const parts: string[] = [];
  for (let i = 0; i < list.length; ) {
    let end = i + 1;
    while (end < list.length && list[end] === list[end - 1]! + 1) ++end;
    if (parts.length === most) return parts.join(", ") + ", …";
    parts.push(end - i > 1 ? `${list[i]}–${list[end - 1]}` : String(list[i]));
    i = end;
  }
  return parts.join(", ");
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Without what every name of a C++ program repeats. */
export function shortName(name: string): string {
  return name.replaceAll("(anonymous namespace)::", "");
}

/** A label inside a sentence. */
export function within(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label;
}
