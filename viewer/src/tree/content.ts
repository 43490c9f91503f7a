// What a tree shows.

export interface TreeValues {
  inclusive(node: number): number;
  exclusive(node: number): number;
}

export interface TreeContent extends TreeValues {
  parent: ArrayLike<number>; // parents come first, -1 at the top
  name(node: number): string;
  hint?(node: number): string; // tooltip
  side?(node: number): string; // file:line
  whole(node: number): number; // what the share is of
  show(value: number, node: number): string;
  other?: TreeValues; // selection B
  unknown?(node: number, ofOther: boolean): boolean; // there is a value, but the profile does not have it
  imbalance?(node: number): number;
  /** How far a value may be off, Infinity if unknown. Only asked for rows that are seen. */
  error?(node: number, exclusive: boolean): number;
  /** The same of the difference of B and A. */
  errorOfDifference?(node: number): number;
  /** The order of a row and the next one may be chance. */
  hasOpenOrder?(node: number): boolean;
  hidden?(node: number): boolean;
  fixedOrder?: boolean;
  shares?: boolean;
  /** Bottom-up: `inclusive` is the sum over the callers below, which is the own value of the function; `exclusive` is its inclusive value.
   *  Open rows show the same as closed ones. */
  isBottomUp?: boolean;
  /** Other columns than value, own value and so on: the HTML of their heads, and of the cells of a row. */
  columns?: { head: string; cells(node: number): string };
  /** What rows are sorted by, the largest first, in place of their values. */
  rank?(node: number): number;
}
