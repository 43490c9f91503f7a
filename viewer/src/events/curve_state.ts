// Which curves are shown, as a part of the page's state and of its link.
export interface CurveState {
  sources: string; // expressions, ";" between them
  every: number; // ns of an interval; 0: by the zoom
  isOver: boolean; // over the rows, not below
}
export const noCurves: CurveState = { sources: "", every: 0, isOver: false };

export function curvesInto(q: URLSearchParams, { sources, every, isOver }: CurveState): void {
  if (sources) q.set("curves", sources);
  if (every > 0) q.set("every", String(every));
  if (isOver) q.set("over", "1");
}
export function curvesOf(q: URLSearchParams): CurveState {
  const every = Number(q.get("every") ?? 0);
  return { sources: (q.get("curves") ?? "").slice(0, 3000), every: isFinite(every) && every >= 1 ? Math.round(every) : 0, isOver: q.get("over") === "1" };
}

/** A ";" in quotation marks belongs to a name. */
export function sourcesOf(text: string): { source: string; at: number }[] {
  const list: { source: string; at: number }[] = [];
  for (let at = 0, quoted = false, i = 0; i <= text.length; ++i) {
    if (text[i] === '"') quoted = !quoted;
    if (i < text.length && (text[i] !== ";" || quoted)) continue;
    const source = text.slice(at, i);
    if (source.trim()) list.push({ source: source.trim(), at: at + source.length - source.trimStart().length });
    at = i + 1;
  }
  return list;
}
