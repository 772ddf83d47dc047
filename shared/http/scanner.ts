/** Matches a token (RFC 9110 section 5.6.2). */
export const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;

/** Matches a comma of a list with the white space and the empty elements around it (RFC 9110 section 5.6.1.2). */
export const COMMAS = /[ \t]*,[ \t,]*/y;

const OWS = /[ \t]*/y;
const QDTEXT = /[\t !\x23-\x5b\x5d-\x7e\x80-\xff]+/y;
const QUOTED_PAIR = /\\[\t -\x7e\x80-\xff]/y;
const DQUOTE = /"/y;

/**
 * Reads the productions of a field value one after another, in linear time. Every pattern is sticky and repeats one
 * class of characters; a read that fails consumes nothing.
 */
export class Scanner {
  readonly #text: string;
  /** The index of the next character. */
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.at === this.#text.length;
  }

  read(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  /** True if a list element ends here. */
  get delimited(): boolean {
    const start = this.at;
    this.read(OWS);
    const delimited = this.done || this.#text[this.at] === ',';
    this.at = start;
    return delimited;
  }

  /** Reads a quoted-string and returns its text without quotes and escapes (RFC 9110 section 5.6.4). */
  quotedString(): string | undefined {
    const start = this.at;
    if (this.read(DQUOTE) === undefined) return undefined;
    let text = '';
    while (this.read(DQUOTE) === undefined) {
      const piece = this.read(QDTEXT) ?? this.read(QUOTED_PAIR)?.slice(1);
      if (piece === undefined) {
        this.at = start;
        return undefined;
      }
      text += piece;
    }
    return text;
  }
}
