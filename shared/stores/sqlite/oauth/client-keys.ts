import { keyIdsOf } from '../../oauth/client-keys.ts';
import type { ClientRecord } from '../../oauth/clients.ts';
import type { Connection } from '../file/connection.ts';
import type { Database } from '../file/file.ts';

/** Clients that are indexed in one transaction: others wait that long. */
const BATCH = 100;

/** Writes the keys of a client that was just written. A trigger has removed those that it had before, and noted it as unindexed. */
export function indexKeys(connection: Connection, client: ClientRecord): void {
  for (const key of keyIdsOf(client)) {
    connection.run('INSERT INTO client_key (key, client_id) VALUES (?, ?)', key, client.client_id);
  }
  connection.run('DELETE FROM client_unindexed WHERE client_id = ?', client.client_id);
}

/** Indexes the clients that were there before the index, or that a server of an older version has written since. */
export async function indexOthers(file: Database): Promise<void> {
  const isAnyLeft = (connection: Connection) =>
    connection.all('SELECT 1 FROM client_unindexed LIMIT 1').length > 0;
  const indexSome = (connection: Connection) => {
    const records = connection.all<readonly [record: string]>(
      `SELECT record FROM client_unindexed JOIN client USING (client_id) LIMIT ${BATCH}`,
    );
    for (const [record] of records) indexKeys(connection, JSON.parse(record) as ClientRecord);
  };
  while (await file.read(isAnyLeft)) await file.write(indexSome);
}

/**
 * Returns the ids of the clients that authenticate with a key. A server of an older version indexes clients by their
 * documents, too, so that a row only says which records to look at.
 */
export const idsOfKey = (connection: Connection, keyId: string): readonly string[] =>
  connection
    .all<readonly [record: string]>(
      'SELECT record FROM client_key JOIN client USING (client_id) WHERE key = ? ORDER BY client_id',
      keyId,
    )
    .map(([record]) => JSON.parse(record) as ClientRecord)
    .filter((client) => keyIdsOf(client).includes(keyId))
    .map(({ client_id }) => client_id);
