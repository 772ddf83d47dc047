import { personText } from '../../credentials/passkey-changes.ts';
import {
  renewalOfRecovery,
  useOfRecovery,
  useOfStep,
} from '../../credentials/second-factor-changes.ts';
import type { SecondFactorChange } from '../../credentials/second-factor-changes.ts';
import type { SecondFactorRecord, SecondFactors } from '../../credentials/second-factors.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Connection } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';

type Row = readonly [record: string];

const factorOf = ([record]: Row) => JSON.parse(record) as SecondFactorRecord;

export function sqliteSecondFactors(file: SqliteFile): SecondFactors {
  const find = (connection: Connection, accountId: string) => {
    const [row] = connection.all<Row>(
      'SELECT record FROM second_factor WHERE person = ?',
      personText(accountId),
    );
    return row && factorOf(row);
  };
  const change = (accountId: string, changed: SecondFactorChange) =>
    file.write((connection) => {
      const factor = find(connection, accountId);
      const after = factor && changed(factor);
      if (after === undefined) return false;
      connection.run(
        'UPDATE second_factor SET record = ? WHERE person = ?',
        JSON.stringify(after),
        personText(accountId),
      );
      return true;
    });

  return {
    add: (factor) =>
      file.write((connection) => {
        if (find(connection, factor.accountId) !== undefined) return false;
        connection.run(
          'INSERT INTO second_factor (person, record) VALUES (?, ?)',
          personText(factor.accountId),
          JSON.stringify(factor),
        );
        return true;
      }),
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
    useStep: (accountId, id, step, at) => change(accountId, useOfStep(id, step, at)),
    useRecovery: (accountId, mac, at) => change(accountId, useOfRecovery(mac, at)),
    renewRecovery: (accountId, id, macs) => change(accountId, renewalOfRecovery(id, macs)),
    remove: (accountId) =>
      file.write((connection) => {
        if (find(connection, accountId) === undefined) return false;
        connection.run('DELETE FROM second_factor WHERE person = ?', personText(accountId));
        return true;
      }),
  };
}
