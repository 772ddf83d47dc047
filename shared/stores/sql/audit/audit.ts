import type { Clock } from '#shared/base/clock.ts';
import {
  type Audit,
  type AuditLink,
  type AuditRow,
  MOST_ENTRIES,
  type RefusalCount,
} from '../../audit/audit.ts';
import { insertion, objects } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql, type Transaction } from '../sql.ts';

const SECOND = 1_000;

const links = (sql: Sql, rest: string, ...values: readonly number[]): Promise<AuditLink[]> =>
  objects(
    sql,
    'number, before, first, last, at, oldest, mac',
    `FROM audit_link ${rest}`,
    ...values,
  );

export async function appendEntries(sql: Transaction, texts: readonly string[]): Promise<void> {
  for (const text of texts) await sql.later(...insertion('audit_open', { text }));
}

const headOf = async (sql: Sql): Promise<AuditLink | undefined> =>
  (await links(sql, 'ORDER BY number DESC LIMIT 1'))[0];

export function sqlAudit(database: Database, clock: Clock): Audit {
  return {
    append: (...texts) => database.write((sql) => appendEntries(sql, texts), { joins: true }),

    appendRefusal: ({ hour, person }, most, text) =>
      database.write(async (sql) => {
        const counted = `INSERT INTO audit_refusal (hour, person, count) VALUES (?, ?, 1)
          ON CONFLICT (hour, person) DO UPDATE SET count = audit_refusal.count + 1
          RETURNING count`;
        const [row] = await sql.all<[count: number]>(counted, hour, person);
        if ((row?.[0] ?? 0) <= most) await appendEntries(sql, [text]);
      }),

    // A link that ends within the last second was made by another process, so this process waits.
    takeTurn: () =>
      database.read(async (sql) => {
        const age = clock.now() - ((await headOf(sql))?.at ?? 0);
        return age < 0 || age >= SECOND;
      }),

    refusals: (hour) =>
      database.read((sql) => {
        const rest = `FROM audit_refusal WHERE hour < ? LIMIT ${MOST_ENTRIES}`;
        return objects<RefusalCount>(sql, 'hour, person, count', rest, hour);
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
        await sql.later(...insertion('audit_link', { ...link }));
        for (const { seq, text, keys } of rows) {
          await sql.later(...insertion('audit', { seq, text }));
          for (const key of keys) await sql.later(...insertion('audit_key', { key, seq }));
        }
        // Deletes only the entries that were read: an entry with a lower number may have been committed later.
        const text =
          'DELETE FROM audit_open WHERE seq IN (SELECT CAST(value AS BIGINT) FROM EACH(?) AS closed)';
        await sql.last.run(text, upTo);
        return true;
      }),

    rows: ({ key, first, last, newestFirst }, count) =>
      database.read((sql) => {
        const [from, ...values] =
          key === undefined
            ? (['audit WHERE'] as const)
            : (['audit_key JOIN audit USING (seq) WHERE key = ? AND', key] as const);
        const order = newestFirst ? 'DESC' : 'ASC';
        const rest = `FROM ${from} seq BETWEEN ? AND ? ORDER BY seq ${order} LIMIT ?`;
        return objects<AuditRow>(sql, 'seq, text', rest, ...values, first, last, count);
      }),

    links: (from, count) =>
      database.read(async (sql) => {
        if (from !== undefined) {
          return links(sql, 'WHERE number >= ? ORDER BY number LIMIT ?', from, count);
        }
        const last = await headOf(sql);
        return last ? [last] : [];
      }),

    linkAt: (at) =>
      database.read(
        async (sql) => (await links(sql, 'WHERE at >= ? ORDER BY at, number LIMIT 1', at))[0],
      ),

    end: ({ number }, rows) =>
      database.write(async (sql) => {
        await sql.later('DELETE FROM audit_link WHERE number = ?', number);
        for (const { seq, keys } of rows) {
          await sql.later('DELETE FROM audit WHERE seq = ?', seq);
          for (const key of keys) {
            await sql.later('DELETE FROM audit_key WHERE key = ? AND seq = ?', key, seq);
          }
        }
      }, MAKES_ROOM),
  };
}
