import type { Clock } from '#shared/base/clock.ts';
import type { SecondFactorRecord, SecondFactors } from '../../credentials/second-factors.ts';
import { lockGeneration, raiseIn } from '../revocation/generations.ts';
import { put, recordsIn } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql, type Transaction } from '../sql.ts';

const factors = recordsIn<SecondFactorRecord>('second_factor');

const find = (sql: Sql, accountId: string) => factors.find(sql, 'WHERE person = ?', accountId);

/** Reads and locks the second factor of a person, or its absence. */
async function lock(sql: Transaction, accountId: string): Promise<SecondFactorRecord | undefined> {
  await sql.lockNames([`second factor of ${accountId}`]);
  return find(sql, accountId);
}

const write = (sql: Sql, factor: SecondFactorRecord) =>
  put(sql, 'second_factor', 'person', {
    person: factor.accountId,
    record: JSON.stringify(factor),
  });

const used = (factor: SecondFactorRecord, at: number) => ({
  ...factor,
  used_at: Math.max(at, factor.used_at ?? at),
});

export function sqlSecondFactors(database: Database, clock: Clock): SecondFactors {
  /** Resolves to the changed second factor; false: the person has none, or `after` returned undefined. */
  const change = (
    accountId: string,
    after: (factor: SecondFactorRecord) => SecondFactorRecord | undefined,
  ) =>
    database.write(async (sql) => {
      const factor = await lock(sql, accountId);
      const changed = factor && after(factor);
      if (changed === undefined) return false;
      await write(sql, changed);
      return changed;
    });

  return {
    add: (factor) =>
      database.write(async (sql) => {
        if ((await lock(sql, factor.accountId)) !== undefined) return false;
        await write(sql, factor);
        return true;
      }),
    setUp: async ({ factor, replaces, generation, until }) => {
      const raised = await database.write(async (sql) => {
        const { accountId } = factor;
        if ((await lockGeneration(sql, 'person', accountId)) !== generation) return false;
        if ((await lock(sql, accountId))?.id !== replaces) return false;
        await write(sql, factor);
        return raiseIn(sql, 'person', accountId, { until, now: clock.now() });
      });
      return raised === false ? undefined : raised;
    },
    get: (accountId) => database.read((sql) => find(sql, accountId)),
    list: () => factors.slices(database, 'person', ({ accountId }) => [accountId]),
    useStep: async (accountId, id, step, at) => {
      const after = await change(accountId, (factor) =>
        factor.id === id && step > factor.step ? { ...used(factor, at), step } : undefined,
      );
      return after !== false;
    },
    useRecovery: async (accountId, mac, at) => {
      const after = await change(accountId, (factor) =>
        factor.recovery.includes(mac)
          ? { ...used(factor, at), recovery: factor.recovery.filter((one) => one !== mac) }
          : undefined,
      );
      return after === false ? undefined : after.recovery.length;
    },
    renewRecovery: async ({ accountId, id, recovery: seen }, recovery) => {
      const after = await change(accountId, (factor) =>
        factor.id === id && JSON.stringify(factor.recovery) === JSON.stringify(seen)
          ? { ...factor, recovery }
          : undefined,
      );
      return after !== false;
    },
    remove: (accountId, id) =>
      database.write(async (sql) => {
        const factor = await lock(sql, accountId);
        if (factor === undefined || (id !== undefined && factor.id !== id)) return false;
        await sql.run('DELETE FROM second_factor WHERE person = ?', accountId);
        return true;
      }, MAKES_ROOM),
  };
}
