/** The element of the page with this id. */
export const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

/** A label with what it names behind it. */
export function labelled(text: string, element: HTMLElement): HTMLLabelElement {
  const label = document.createElement("label");
  label.append(text + " ", element);
  return label;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
