/** A strict reader of challenges and parameters (RFC 9110 section 11), which detects a server's faults. */

export interface Param {
  readonly name: string;
  readonly value: string;
  /** Whether the value is a quoted-string and not a token. */
  readonly quoted: boolean;
}

export interface Challenge {
  /** As received. Comparisons ignore case. */
  readonly scheme: string;
  readonly token68?: string;
  readonly params: readonly Param[];
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const QUOTED = '"((?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*)"';
/** SCRAM's `data` and `sr` have no quotes, although they are no tokens (RFC 7804 section 7). */
const BASE64 = '[A-Za-z0-9+/]+=*(?=[ \\t]*(?:,|$))';
const AUTH_PARAM = new RegExp(`(${TOKEN})[ \\t]*=[ \\t]*(?:(${BASE64}|${TOKEN})|${QUOTED})`, 'y');
const SCHEME = new RegExp(TOKEN, 'y');
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const SPACES = / +/y;
const BEFORE_ELEMENT = /[ \t,]*/y;
const AFTER_ELEMENT = /[ \t]*(?=,|$)/y;

/** The challenges in all lines of a field; throws if they are not `#challenge`. */
export function parseChallenges(lines: readonly string[]): readonly Challenge[] {
  return lines.flatMap((line) => {
    const cursor = new Cursor(line);
    const challenges: { scheme: string; token68?: string; params: Param[] }[] = [];
    while (cursor.atElement()) {
      const param = cursor.param();
      const last = challenges.at(-1);
      if (param === undefined) challenges.push(cursor.challenge());
      else if (last === undefined || last.token68 !== undefined) cursor.fail();
      else last.params.push(param);
      cursor.expect(AFTER_ELEMENT);
    }
    for (const { params } of challenges) refuseDuplicates(params);
    return challenges;
  });
}

/** The parameters of Authentication-Info and similar fields, `#auth-param`. Several lines form one list. */
export function parseParams(lines: readonly string[]): readonly Param[] {
  const cursor = new Cursor(lines.join(', '));
  const params: Param[] = [];
  while (cursor.atElement()) {
    params.push(cursor.param() ?? cursor.fail());
    cursor.expect(AFTER_ELEMENT);
  }
  refuseDuplicates(params);
  return params;
}

/**
 * The value of a credentials field. Unquoted values are not checked, so that a test can send invalid ones.
 */
export function credentials(scheme: string, params: readonly Param[]): string {
  const list = params.map(
    (param) => `${param.name}=${param.quoted ? quote(param.value) : param.value}`,
  );
  return `${scheme} ${list.join(', ')}`;
}

export function paramOf(params: readonly Param[], name: string): Param | undefined {
  return params.find((param) => param.name.toLowerCase() === name.toLowerCase());
}

export function valueOf(params: readonly Param[], name: string): string | undefined {
  return paramOf(params, name)?.value;
}

export function token(name: string, value: string): Param {
  return { name, value, quoted: false };
}

export function quoted(name: string, value: string): Param {
  return { name, value, quoted: true };
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function refuseDuplicates(params: readonly Param[]): void {
  const names = params.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new SyntaxError(`${twice} stands twice`);
}

class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the next element of the list; false at the end. */
  atElement(): boolean {
    this.expect(BEFORE_ELEMENT);
    return this.#at < this.#text.length;
  }

  param(): Param | undefined {
    const match = this.#take(AUTH_PARAM);
    if (match === undefined) return undefined;
    const [, name = '', bare, inside = ''] = match;
    return bare === undefined ? quoted(name, inside.replaceAll(/\\(.)/g, '$1')) : token(name, bare);
  }

  /** Reads a scheme with its token68 or its first parameter, if present. */
  challenge(): { scheme: string; token68?: string; params: Param[] } {
    const scheme = this.expect(SCHEME)[0];
    if (this.#take(SPACES) === undefined) return { scheme, params: [] };
    const token68 = this.#take(TOKEN68)?.[0];
    if (token68 !== undefined) return { scheme, token68, params: [] };
    const first = this.param();
    return { scheme, params: first === undefined ? [] : [first] };
  }

  expect(pattern: RegExp): RegExpExecArray {
    return this.#take(pattern) ?? this.fail();
  }

  fail(): never {
    throw new SyntaxError(`unexpected at ${this.#at} of: ${this.#text}`);
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text) ?? undefined;
    if (match !== undefined) this.#at = pattern.lastIndex;
    return match;
  }
}
