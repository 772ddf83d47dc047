import { type Html, html } from './html.ts';
import type { Language } from './language.ts';

const TEXTS = {
  en: { copy: 'Copy', copied: 'Copied', selected: 'Selected' },
  de: { copy: 'Kopieren', copied: 'Kopiert', selected: 'Markiert' },
} as const satisfies Record<Language, unknown>;

/**
 * An element with text, and a button that copies this text. Without script there is no button. `what`: the name of the text,
 * which is heard but not seen.
 */
export function copyable(language: Language, shown: Html, what: string): Html {
  const { copy, copied, selected } = TEXTS[language];
  return html`<div class="copyable">
    ${shown}
    <button
      class="button slim"
      type="button"
      data-copied="${copied}"
      data-selected="${selected}"
      aria-live="polite"
      hidden
    >
      ${copy}<span class="hidden"> ${what}</span>
    </button>
  </div>`;
}
