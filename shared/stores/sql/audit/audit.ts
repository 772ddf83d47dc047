import type { Clock } from '#shared/base/clock.ts';
import {
  type Audit,
  type AuditLink,
  type AuditRow,
  MOST_ENTRIES,
  type RefusalCount,
} from '../../audit/audit.ts';
import { insertion } from '../rows.ts';
import type { Database, Sql, Transaction } from '../sql.ts';

type LinkRow = [
  number: number,
  before: string,
  first: number,
  last: number,
  at: number,
  oldest: number,
  mac: string,
];

const SECOND = 1_000;

const LINK = 'SELECT number, before, first, last, at, oldest, mac FROM audit_link';

const linkOf = ([number, before, first, last, at, oldest, mac]: LinkRow): AuditLink => ({
  number,
  before,
  first,
  last,
  at,
  oldest,
  mac,
});

export async function appendEntries(sql: Transaction, texts: readonly string[]): Promise<void> {
  for (const text of texts) await sql.later(...insertion('audit_open', { text }));
}

/** Resolves to the newest link. */
async function headOf(sql: Sql): Promise<AuditLink | undefined> {
  const [row] = await sql.all<LinkRow>(`${LINK} ORDER BY number DESC LIMIT 1`);
  return row && linkOf(row);
}

export function sqlAudit(database: Database, clock: Clock): Audit {
  return {
    append: (...texts) => database.write((sql) => appendEntries(sql, texts), { joins: true }),

    appendRefusal: ({ hour, person }, most, text) =>
      database.write(async (sql) => {
        const [row] = await sql.all<[count: number]>(
          `INSERT INTO audit_refusal (hour, person, count) VALUES (?, ?, 1)
           ON CONFLICT (hour, person) DO UPDATE SET count = audit_refusal.count + 1
           RETURNING count`,
          hour,
          person,
        );
        if ((row?.[0] ?? 0) <= most) await appendEntries(sql, [text]);
      }),

    // A link that ends within the last second was made by another process in this one.
    takeTurn: () =>
      database.read(async (sql) => {
        const age = clock.now() - ((await headOf(sql))?.at ?? 0);
        return age < 0 || age >= SECOND;
      }),

    refusals: (hour) =>
      database.read(async (sql) => {
        const rows = await sql.all<[hour: number, person: string, count: number]>(
          `SELECT hour, person, count FROM audit_refusal WHERE hour < ? LIMIT ${MOST_ENTRIES}`,
          hour,
        );
        return rows.map(([of, person, count]): RefusalCount => ({ hour: of, person, count }));
      }),

    settleRefusal: ({ hour, person }, text) =>
      database.write(async (sql) => {
        const gone = 'DELETE FROM audit_refusal WHERE hour = ? AND person = ?';
        if ((await sql.run(gone, hour, person)) === 0) return false;
        if (text !== undefined) await appendEntries(sql, [text]);
        return true;
      }),

    open: () =>
      database.snapshot(async (sql) => {
        const [head, rows] = await Promise.all([
          headOf(sql),
          sql.last.all<[seq: number, text: string]>(
            `SELECT seq, text FROM audit_open ORDER BY seq LIMIT ${MOST_ENTRIES}`,
          ),
        ]);
        return {
          texts: rows.map(([, text]) => text),
          upTo: JSON.stringify(rows.map(([seq]) => seq)),
          head,
        };
      }),

    close: (link, rows, upTo) =>
      database.write(async (sql) => {
        await sql.lockNames(['audit log']);
        if (((await headOf(sql))?.number ?? 0) !== link.number - 1) return false;
        const { number, before, first, last, at, oldest, mac } = link;
        await sql.later(...insertion('audit_link', { number, before, first, last, at, oldest, mac }));
        for (const { seq, text, keys } of rows) {
          await sql.later(...insertion('audit', { seq, text }));
          for (const key of keys) await sql.later(...insertion('audit_key', { key, seq }));
        }
        // Those that were read, and no other: one with a lower number may have been committed later.
        await sql.last.run(
          'DELETE FROM audit_open WHERE seq IN (SELECT CAST(value AS BIGINT) FROM EACH(?) AS closed)',
          upTo,
        );
        return true;
      }),

    rows: ({ key, first, last, newestFirst }, count) =>
      database.read(async (sql) => {
        const order = `ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`;
        const [from, ...values] =
          key === undefined
            ? (['audit WHERE'] as const)
            : (['audit_key JOIN audit USING (seq) WHERE key = ? AND', key] as const);
        const found = await sql.all<[seq: number, text: string]>(
          `SELECT seq, text FROM ${from} seq BETWEEN ? AND ? ${order}`,
          ...values,
          first,
          last,
          count,
        );
        return found.map(([seq, text]): AuditRow => ({ seq, text }));
      }),

    links: (from, count) =>
      database.read(async (sql) => {
        if (from !== undefined) {
          const text = `${LINK} WHERE number >= ? ORDER BY number LIMIT ?`;
          return (await sql.all<LinkRow>(text, from, count)).map(linkOf);
        }
        const last = await headOf(sql);
        return last ? [last] : [];
      }),

    linkAt: (at) =>
      database.read(async (sql) => {
        const [row] = await sql.all<LinkRow>(
          `${LINK} WHERE at >= ? ORDER BY at, number LIMIT 1`,
          at,
        );
        return row && linkOf(row);
      }),

    end: ({ number }, rows) =>
      database.write(
        async (sql) => {
          await sql.later('DELETE FROM audit_link WHERE number = ?', number);
          for (const { seq, keys } of rows) {
            await sql.later('DELETE FROM audit WHERE seq = ?', seq);
            for (const key of keys) {
              await sql.later('DELETE FROM audit_key WHERE key = ? AND seq = ?', key, seq);
            }
          }
        },
        { makesRoom: true },
      ),
  };
}
