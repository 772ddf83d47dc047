/** HTML that is safe to send. Pages create it only with the template `html`. */
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

/** Text and numbers are escaped, arrays are joined, `undefined` and `false` are omitted. */
export type HtmlValue = string | number | Html | undefined | false | readonly HtmlValue[];

/**
 * A template that escapes its values, for content and for attributes in double quotes. Pages write HTML only with it,
 * so every value is escaped.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = withoutIndentation(strings).map((text, index) => text + written(values[index]));
  return new Html(parts.join(''));
}

/** Matches the end of an element that keeps white space, such an element, or the indentation of a line. */
const INDENTED = /^[^<]*<\/(?:pre|textarea)>|<(pre|textarea)\b.*?(?:<\/\1>|$)|(?<=\n)[ \t]+/gs;

const lean = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Returns the texts of a template without the source's indentation, a fifth of a page, which no browser shows. */
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

/** Returns a style element with a style of ours. Its content cannot be escaped. */
export function styleElement(css: string): Html {
  return new Html(`<style>${css}</style>`);
}

/**
 * Returns a script element with a module of ours, which runs after the page was parsed. Its content cannot be
 * escaped.
 */
export function scriptElement(script: string): Html {
  return new Html(`<script type="module">${script}</script>`);
}

export function strong(text: string): Html {
  return html`<strong>${text}</strong>`;
}
