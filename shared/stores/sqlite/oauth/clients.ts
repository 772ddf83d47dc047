import { keyIdsOf } from '../../oauth/client-keys.ts';
import type { ClientRecord, Clients } from '../../oauth/clients.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';
import { inRange } from '../file/name-range.ts';
import { recalling } from '../file/recalled.ts';

type Row = readonly [record: string];

const clientOf = ([record]: Row) => JSON.parse(record) as ClientRecord;

const removeKeys = (connection: Statements, clientId: string) =>
  connection.run('DELETE FROM client_key WHERE client_id = ?', clientId);

export function sqliteClients(file: Database): Clients {
  const recall = recalling<ClientRecord | undefined>(file);

  /** `text`: writes one row with the record, or none. */
  const write = (client: ClientRecord, text: string, ...more: readonly (string | null)[]) =>
    file.write((connection) => {
      const { client_id } = client;
      if (connection.run(text, client_id, JSON.stringify(client), ...more) === 0) return false;
      removeKeys(connection, client_id);
      for (const key of keyIdsOf(client)) {
        connection.run('INSERT INTO client_key (key, client_id) VALUES (?, ?)', key, client_id);
      }
      return true;
    });

  return {
    add: (client) =>
      write(client, 'INSERT INTO client (client_id, record) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    get: (clientId) =>
      recall(clientId, (connection) => {
        const [row] = connection.all<Row>(
          'SELECT record FROM client WHERE client_id = ?',
          clientId,
        );
        return row && clientOf(row);
      }),
    page: (range) =>
      file.read((connection) => {
        const [clause, ...values] = inRange('client_id', range);
        return connection.all<Row>(`SELECT record FROM client ${clause}`, ...values).map(clientOf);
      }),
    list: () =>
      file.read((connection) =>
        connection.all<Row>('SELECT record FROM client ORDER BY client_id').map(clientOf),
      ),
    withKey: (keyId) =>
      file.read((connection) =>
        connection
          .all<readonly [clientId: string]>(
            'SELECT client_id FROM client_key WHERE key = ? ORDER BY client_id',
            keyId,
          )
          .flat(),
      ),
    replace: (client, was) =>
      write(
        client,
        'UPDATE client SET record = ?2 WHERE client_id = ?1 AND record = ifnull(?3, record)',
        was === undefined ? null : JSON.stringify(was),
      ),
    remove: (clientId, was) =>
      file.write((connection) => {
        const removed = connection.run(
          'DELETE FROM client WHERE client_id = ?1 AND record = ifnull(?2, record)',
          clientId,
          was === undefined ? null : JSON.stringify(was),
        );
        if (removed === 0) return false;
        removeKeys(connection, clientId);
        return true;
      }),
  };
}
