import { createHash } from 'node:crypto';

/** A statement in the SQL of PostgreSQL. */
export interface Statement {
  /** Depends on the text alone: processes may share a connection. Each connection plans one name once. */
  readonly name: string;
  readonly text: string;
  /** For each parameter, the place of its value from 0, and whether the value is a list in JSON. */
  readonly parameters: readonly { readonly place: number; readonly isList: boolean }[];
  /** The table whose new rows are numbered after the commit, if the statement adds such rows. */
  readonly numbered: Numbered | undefined;
}

/** The tables that followers read by number: those with AUTOINCREMENT in `sql/tables.ts`. */
export const NUMBERED = {
  invalidation: 'seq',
  push_message: 'place',
  push_news: 'place',
  push_receipt: 'place',
  revocation: 'seq',
} as const;
export type Numbered = keyof typeof NUMBERED;

export const isNumbered = (table: string): table is Numbered => Object.hasOwn(NUMBERED, table);

const ADDS = new RegExp(`^INSERT INTO (${Object.keys(NUMBERED).join('|')})\\b`);

/** Characters of a name, of 6 bits each. */
const NAME = 16;

const known = new Map<string, Statement>();

/** Parts of statements that PostgreSQL writes differently (sql.ts). In SQLite, CROSS JOIN keeps the order of tables. */
const DIALECT: readonly (readonly [written: RegExp, here: string])[] = [
  // An array is looked up in the index. A joined list would be scanned for each row if the statistics call the table
  // small.
  [/\bIN EACH\((\$\d+)\)/g, '= ANY ($1::text[])'],
  [
    /\bIN \(SELECT CAST\(value AS BIGINT\) FROM EACH\((\$\d+)\) AS \w+\)/g,
    '= ANY (CAST($1::text[] AS bigint[]))',
  ],
  [/EACH\((\$\d+)\)/g, '(SELECT value FROM unnest($1::text[]) AS one (value))'],
  [/LAST\((\w+), \w+\)/g, "coalesce((SELECT last FROM numbers WHERE name = '$1'), 0)"],
  [/\browid\b/g, 'ctid'],
  [/CROSS JOIN (\w+(?: AS \w+)?) ON/g, 'JOIN $1 ON'],
];

/** Returns the statement for a text of sql.ts. */
export function statementOf(written: string): Statement {
  let statement = known.get(written);
  if (statement === undefined) {
    const parameters: { place: number; isList: boolean }[] = [];
    const numbered = written.replaceAll(/(EACH\()?\?(\d*)/g, (_, list = '', number: string) => {
      const place = number === '' ? parameters.length : Number(number) - 1;
      parameters.push({ place, isList: list !== '' });
      return `${list}$${parameters.length}`;
    });
    const text = DIALECT.reduce((some, [from, to]) => some.replaceAll(from, to), numbered);
    const [, adds] = ADDS.exec(text) ?? [];
    statement = {
      name: createHash('sha256').update(text).digest('base64url').slice(0, NAME),
      text,
      parameters,
      numbered: adds as Numbered | undefined,
    };
    known.set(written, statement);
  }
  return statement;
}

/** Returns all statements that were used. */
export const statements = (): readonly Statement[] => [...known.values()];

/** PostgreSQL has no U+0000 in text. So U+0000 becomes U+0001 and 0, and U+0001 becomes U+0001 and 1. */
const NUL = String.fromCodePoint(0);
const ESCAPE = String.fromCodePoint(1);
const ESCAPED = new RegExp(`${ESCAPE}([01])`, 'g');

/** Returns a value for PostgreSQL. */
export const toServer = <V>(value: V): V | string =>
  typeof value === 'string' && (value.includes(NUL) || value.includes(ESCAPE))
    ? value.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(NUL, `${ESCAPE}0`)
    : value;

/** Returns the original of a text from PostgreSQL. */
export const fromServer = (text: string): string =>
  text.includes(ESCAPE)
    ? text.replaceAll(ESCAPED, (_, which) => (which === '0' ? NUL : ESCAPE))
    : text;
