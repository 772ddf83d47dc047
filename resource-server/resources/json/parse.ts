import { unprocessable } from '#shared/http/answer.ts';
import { type Json, NumberText } from './value.ts';

/** The deepest nesting of arrays and objects. */
export const MAX_DEPTH = 200;
/** The most values in a text, nested ones included. They take about 100 ms to read and write. */
export const MAX_VALUES = 100_000;
/** The most characters of a number (RFC 8259 section 9 allows a limit), since comparing long ones is slow. */
const MAX_NUMBER = 1000;

/** The text is not JSON, or a member's name occurs twice. The message says where. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/**
 * Parses a JSON text in UTF-8 (RFC 8259). Names must be unique, since parsers differ about duplicates (section 4).
 * Throws `MalformedJson`, or `HttpError` 422 if there are more than `MAX_VALUES` values or `MAX_DEPTH` levels.
 */
export function parseJson(content: Buffer): Json {
  return new Parser(decode(content)).whole();
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new MalformedJson('it is not in UTF-8');
  }
}

const SPACE = /[ \t\n\r]*/y;
/** Characters of a string that need no escape. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /[a-z]+/y;
const WORDS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** A recursive-descent parser. Every pattern repeats single character classes only, so it takes linear time. */
class Parser {
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(0);
    if (this.#next() !== undefined) throw this.#malformed();
    return value;
  }

  #value(depth: number): Json {
    this.#values += 1;
    if (this.#values > MAX_VALUES)
      throw unprocessable(`A JSON text has over ${MAX_VALUES} values.`);
    if (depth > MAX_DEPTH) throw unprocessable(`A JSON text has over ${MAX_DEPTH} levels.`);
    const first = this.#next();
    if (first === '{') return this.#object(depth + 1);
    if (first === '[') return this.#array(depth + 1);
    if (first === '"') return this.#string();
    const word = this.#word();
    return word === undefined ? this.#number() : word;
  }

  #object(depth: number): Json {
    const members = new Map<string, Json>();
    this.#at += 1;
    if (this.#took('}')) return members;
    do {
      if (this.#next() !== '"') throw this.#malformed();
      const name = this.#string();
      if (members.has(name)) throw this.#malformed('a name that comes twice, before');
      this.#take(':');
      members.set(name, this.#value(depth));
    } while (this.#took(','));
    this.#take('}');
    return members;
  }

  #array(depth: number): Json {
    const elements: Json[] = [];
    this.#at += 1;
    if (this.#took(']')) return elements;
    do elements.push(this.#value(depth));
    while (this.#took(','));
    this.#take(']');
    return elements;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let escaped = false;
    for (this.#read(PLAIN); this.#text[this.#at] !== '"'; this.#read(PLAIN)) {
      if (this.#text[this.#at] !== '\\') throw this.#malformed();
      escaped = true;
      this.#at += 2;
    }
    this.#at += 1;
    if (!escaped) return this.#text.slice(start + 1, this.#at - 1);
    try {
      return String(JSON.parse(this.#text.slice(start, this.#at)));
    } catch {
      throw this.#malformed('a bad escape before');
    }
  }

  /** Returns undefined if no word begins here. */
  #word(): Json | undefined {
    const start = this.#at;
    const value = WORDS.get(this.#read(WORD));
    if (value === undefined) this.#at = start;
    return value;
  }

  #number(): Json {
    const text = this.#read(NUMBER);
    if (text === '') throw this.#malformed();
    if (text.length > MAX_NUMBER) {
      throw unprocessable(`A number has over ${MAX_NUMBER} characters.`);
    }
    const number = Number(text);
    return `${number}` === text ? number : new NumberText(text);
  }

  /** The next character that is not white space; undefined at the end. */
  #next(): string | undefined {
    this.#read(SPACE);
    return this.#text[this.#at];
  }

  #took(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(character: string): void {
    if (!this.#took(character)) throw this.#malformed();
  }

  #read(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #malformed(what = 'something else than JSON'): MalformedJson {
    return new MalformedJson(`it has ${what} at character ${this.#at}`);
  }
}
