import {
  renewalOfRecovery,
  type SecondFactorChange,
  useOfRecovery,
  useOfStep,
} from '../../credentials/second-factor-changes.ts';
import type { SecondFactorRecord, SecondFactors } from '../../credentials/second-factors.ts';
import { personText } from '../../people/new-passkey.ts';
import { SLICE, slices } from '../../people/slices.ts';
import { lockGeneration, raiseIn } from '../revocation/generations.ts';
import type { Database, Sql, Transaction } from '../sql.ts';

type Row = readonly [record: string];

const factorOf = ([record]: Row) => JSON.parse(record) as SecondFactorRecord;

async function find(sql: Sql, accountId: string): Promise<SecondFactorRecord | undefined> {
  const [row] = await sql.all<Row>(
    'SELECT record FROM second_factor WHERE person = ?',
    personText(accountId),
  );
  return row && factorOf(row);
}

/** That of a person, or that they have none, which does not change before the end of the transaction. */
async function lock(sql: Transaction, accountId: string): Promise<SecondFactorRecord | undefined> {
  await sql.lockNames([`second factor of ${accountId}`]);
  return find(sql, accountId);
}

const put = (sql: Sql, factor: SecondFactorRecord) =>
  sql.run(
    `INSERT INTO second_factor (person, record) VALUES (?, ?)
     ON CONFLICT (person) DO UPDATE SET record = excluded.record`,
    personText(factor.accountId),
    JSON.stringify(factor),
  );

export function sqlSecondFactors(database: Database): SecondFactors {
  /** Resolves to what it is after the change; false: refused. */
  const change = (accountId: string, changed: SecondFactorChange) =>
    database.write(async (sql) => {
      const factor = await lock(sql, accountId);
      const after = factor && changed(factor);
      if (after === undefined) return false;
      await put(sql, after);
      return after;
    });

  return {
    add: (factor) =>
      database.write(async (sql) => {
        if ((await lock(sql, factor.accountId)) !== undefined) return false;
        await put(sql, factor);
        return true;
      }),
    setUp: async ({ factor, replaces, generation, until }) => {
      const raised = await database.write(async (sql) => {
        const { accountId } = factor;
        if ((await lockGeneration(sql, 'person', accountId)) !== generation) return false;
        if ((await lock(sql, accountId))?.id !== replaces) return false;
        await put(sql, factor);
        return raiseIn(sql, 'person', accountId, until);
      });
      return raised === false ? undefined : raised;
    },
    get: (accountId) => database.read((sql) => find(sql, accountId)),
    list: () =>
      slices<SecondFactorRecord>((last) =>
        database.read(async (sql) => {
          const rows = await sql.all<Row>(
            `SELECT record FROM second_factor ${last ? 'WHERE person > ?' : ''} ORDER BY person LIMIT ${SLICE}`,
            ...(last ? [personText(last.accountId)] : []),
          );
          return rows.map(factorOf);
        }),
      ),
    useStep: async (accountId, id, step, at) =>
      (await change(accountId, useOfStep(id, step, at))) !== false,
    useRecovery: async (accountId, mac, at) => {
      const after = await change(accountId, useOfRecovery(mac, at));
      return after === false ? undefined : after.recovery.length;
    },
    renewRecovery: async (seen, macs) =>
      (await change(seen.accountId, renewalOfRecovery(seen, macs))) !== false,
    remove: (accountId, id) =>
      database.write(async (sql) => {
        const factor = await lock(sql, accountId);
        if (factor === undefined || (id !== undefined && factor.id !== id)) return false;
        await sql.run('DELETE FROM second_factor WHERE person = ?', personText(accountId));
        return true;
      }),
  };
}
