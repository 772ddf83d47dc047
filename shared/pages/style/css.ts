/** Marks a style for editors and for the formatter. */
export const css = String.raw;
