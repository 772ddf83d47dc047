import { personText } from '../../people/new-passkey.ts';
import {
  renewalOfRecovery,
  useOfRecovery,
  useOfStep,
} from '../../credentials/second-factor-changes.ts';
import type { SecondFactorChange } from '../../credentials/second-factor-changes.ts';
import type { SecondFactorRecord, SecondFactors } from '../../credentials/second-factors.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';
import { generationOf, raiseIn } from '../revocation/revocations.ts';

type Row = readonly [record: string];

const factorOf = ([record]: Row) => JSON.parse(record) as SecondFactorRecord;

export function sqliteSecondFactors(file: Database): SecondFactors {
  const find = (connection: Statements, accountId: string) => {
    const [row] = connection.all<Row>(
      'SELECT record FROM second_factor WHERE person = ?',
      personText(accountId),
    );
    return row && factorOf(row);
  };
  const put = (connection: Statements, factor: SecondFactorRecord) =>
    connection.run(
      'INSERT OR REPLACE INTO second_factor (person, record) VALUES (?, ?)',
      personText(factor.accountId),
      JSON.stringify(factor),
    );
  /** Resolves to what it is after the change; false: refused. */
  const change = (accountId: string, changed: SecondFactorChange) =>
    file.write((connection) => {
      const factor = find(connection, accountId);
      const after = factor && changed(factor);
      if (after === undefined) return false;
      put(connection, after);
      return after;
    });

  return {
    add: (factor) =>
      file.write((connection) => {
        if (find(connection, factor.accountId) !== undefined) return false;
        put(connection, factor);
        return true;
      }),
    setUp: async ({ factor, replaces, generation, until }) => {
      const raised = await file.write((connection) => {
        const { accountId } = factor;
        if (find(connection, accountId)?.id !== replaces) return false;
        if (generationOf(connection, 'person', accountId) !== generation) return false;
        put(connection, factor);
        return raiseIn(connection, 'person', accountId, until);
      });
      return raised === false ? undefined : raised;
    },
    get: (accountId) => file.read((connection) => find(connection, accountId)),
    list: () =>
      slices<SecondFactorRecord>((last) =>
        file.read((connection) =>
          connection
            .all<Row>(
              `SELECT record FROM second_factor ${last ? 'WHERE person > ?' : ''} ORDER BY person LIMIT ${SLICE}`,
              ...(last ? [personText(last.accountId)] : []),
            )
            .map(factorOf),
        ),
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
      file.write((connection) => {
        const factor = find(connection, accountId);
        if (factor === undefined || (id !== undefined && factor.id !== id)) return false;
        connection.run('DELETE FROM second_factor WHERE person = ?', personText(accountId));
        return true;
      }),
  };
}
