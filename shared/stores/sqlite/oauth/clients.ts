import type { ClientRecord, Clients } from '../../oauth/clients.ts';
import type { Database } from '../file/file.ts';
import { inRange } from '../file/name-range.ts';
import { recalling } from '../file/recalled.ts';
import { idsOfKey, indexKeys, indexOthers } from './client-keys.ts';

type Row = readonly [record: string];

const clientOf = ([record]: Row) => JSON.parse(record) as ClientRecord;

export function sqliteClients(file: Database): Clients {
  const recall = recalling<ClientRecord | undefined>(file);

  /** `text`: writes one row with the record, or none. */
  const write = (client: ClientRecord, text: string, ...more: readonly (string | null)[]) =>
    file.write((connection) => {
      const { client_id } = client;
      const isWritten = connection.run(text, client_id, JSON.stringify(client), ...more) === 1;
      if (isWritten) indexKeys(connection, client);
      return isWritten;
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
    async withKey(keyId) {
      await indexOthers(file);
      return file.read((connection) => idsOfKey(connection, keyId));
    },
    replace: (client, was) =>
      write(
        client,
        'UPDATE client SET record = ?2 WHERE client_id = ?1 AND record = ifnull(?3, record)',
        was === undefined ? null : JSON.stringify(was),
      ),
    remove: (clientId, was) =>
      file.write(
        (connection) =>
          connection.run(
            'DELETE FROM client WHERE client_id = ?1 AND record = ifnull(?2, record)',
            clientId,
            was === undefined ? null : JSON.stringify(was),
          ) === 1,
      ),
  };
}
