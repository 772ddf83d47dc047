/** HTML that is safe to send. Pages make it by the template `html` alone. */
class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type { Html };

/** Text and numbers are escaped, arrays joined, `undefined` and `false` left out. */
export type HtmlValue = string | number | Html | undefined | false | readonly HtmlValue[];

/**
 * A template whose values are escaped, for content and for attributes in double quotes. It is the only
 * way in which pages write HTML, so no value gets past it.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = withoutIndentation(strings).map((text, index) => text + written(values[index]));
  return new Html(parts.join(''));
}

/** The end of an element that keeps its white space, such an element, or the indentation of a line. */
const INDENTED = /^[^<]*<\/(?:pre|textarea)>|<(pre|textarea)\b.*?(?:<\/\1>|$)|(?<=\n)[ \t]+/gs;

const lean = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Returns the texts of a template without the indentation of its source, a fifth of a page, which no browser shows. */
function withoutIndentation(strings: TemplateStringsArray): readonly string[] {
  const known = lean.get(strings);
  if (known) return known;
  const texts = strings.map((text) =>
    text.replaceAll(INDENTED, (found) => (found.includes('<') ? found : '')),
  );
  lean.set(strings, texts);
  return texts;
}

function written(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(written).join('');
  return escapeHtml(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The style of the pages, which is ours: an element of this kind knows no escapes. */
export function styleElement(css: string): Html {
  return new Html(`<style>${css}</style>`);
}

/** A module of ours, which runs when the page has been read: an element of this kind knows no escapes either. */
export function scriptElement(script: string): Html {
  return new Html(`<script type="module">${script}</script>`);
}

export function strong(text: string): Html {
  return html`<strong>${text}</strong>`;
}
