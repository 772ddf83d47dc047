import { type Html, html } from '#shared/pages/html.ts';

/** Formats a text with code between backticks. */
export const withCode = (text: string): readonly Html[] =>
  text.split('`').map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
