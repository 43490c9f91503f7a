/** The element of the page with this id. */
export const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
