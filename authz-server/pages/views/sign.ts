import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';

const STROKES = {
  done: 'M5 12.5l4.5 4.5L19 7.5',
  denied: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  expired: 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17M12 7.5V12l3 2',
} as const;

/** A small picture of how it ended, beside the words that say so. */
export function sign(end: keyof typeof STROKES): Html {
  return html`<span class="sign ${end}" aria-hidden="true"
    ><svg viewBox="0 0 24 24" focusable="false"><path d="${STROKES[end]}" /></svg
  ></span>`;
}
