import { createHash } from 'node:crypto';

/** A statement as PostgreSQL has it. */
export interface Statement {
  /**
   * Each connection plans a statement of one name once. All processes have the same one for a text: they may share a
   * connection, behind a pooler.
   */
  readonly name: string;
  readonly text: string;
  /** The place of the value, from 0, for each of its parameters, and whether it is a list as JSON. */
  readonly parameters: readonly { readonly place: number; readonly isList: boolean }[];
  /** The table whose new rows get their numbers after the commit; undefined: it adds to none. */
  readonly numbered: Numbered | undefined;
}

/** The tables that others follow by a number, in `sql/tables.ts` the columns with AUTOINCREMENT. */
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

/** Characters of 6 bits each. */
const NAME = 16;

const known = new Map<string, Statement>();

/** Parts of statements that PostgreSQL writes in another way than the verbs do (sql.ts). SQLite keeps the order of a CROSS JOIN. */
const DIALECT: readonly (readonly [written: RegExp, here: string])[] = [
  // A list is looked for in an index: joined, it would be gone through for each row where the table is taken for small.
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

/** Returns the statement of a text of sql.ts. */
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

/** Returns all statements that were asked for until now. */
export const statements = (): readonly Statement[] => [...known.values()];

/** PostgreSQL has no U+0000 in text: it is U+0001 and 0 there, and U+0001 is U+0001 and 1. */
const NUL = String.fromCodePoint(0);
const ESCAPE = String.fromCodePoint(1);
const ESCAPED = new RegExp(`${ESCAPE}([01])`, 'g');

/** Returns a value as PostgreSQL takes it. */
export const toServer = <V>(value: V): V | string =>
  typeof value === 'string' && (value.includes(NUL) || value.includes(ESCAPE))
    ? value.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(NUL, `${ESCAPE}0`)
    : value;

/** Returns a text of PostgreSQL as it was given. */
export const fromServer = (text: string): string =>
  text.includes(ESCAPE)
    ? text.replaceAll(ESCAPED, (_, which) => (which === '0' ? NUL : ESCAPE))
    : text;
