import type { Clock } from '#shared/base/clock.ts';
import { wordKeysOf } from '#shared/base/word-keys.ts';
import { keyIdsOf, startKeysOf } from '../../oauth/client-keys.ts';
import type { ClientRecord, Clients } from '../../oauth/clients.ts';
import { narrows } from '../../oauth/use-rules.ts';
import { tellOfRules } from '../logout/logouts.ts';
import { havingKey, inRange, insertion, recordsIn } from '../rows.ts';
import { type Database, MAKES_ROOM, type Transaction, type Value } from '../sql.ts';

const clients = recordsIn<ClientRecord>('client');

const recordOf = (client?: ClientRecord) => (client === undefined ? null : JSON.stringify(client));

const removeKeys = (sql: Transaction, clientId: string) =>
  sql.run('DELETE FROM client_search_key WHERE client_id = ?', clientId);

export function sqlClients(database: Database, clock: Clock): Clients {
  const recall = database.recalling<ClientRecord | undefined>();

  /** `text`: writes one row with the record, or none. */
  const write = (
    client: ClientRecord,
    text: string,
    more: readonly Value[] = [],
    also: (sql: Transaction) => Promise<void> = async () => {},
  ) =>
    database.write(async (sql) => {
      const { client_id } = client;
      if ((await sql.run(text, client_id, JSON.stringify(client), ...more)) === 0) return false;
      await removeKeys(sql, client_id);
      for (const key of [
        ...keyIdsOf(client),
        ...wordKeysOf(client.client_name),
        ...startKeysOf(client),
      ]) {
        await sql.later(...insertion('client_search_key', { key, client_id }));
      }
      await also(sql);
      return true;
    });

  return {
    add: (client) =>
      write(client, 'INSERT INTO client (client_id, record) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    get: (clientId) =>
      recall(clientId, (sql) => clients.find(sql, 'WHERE client_id = ?', clientId)),
    page: (range) => database.read((sql) => clients.all(sql, ...inRange('client_id', range))),
    list: () => database.read((sql) => clients.all(sql, 'ORDER BY client_id')),
    searchBeginning: (start) =>
      database.read((sql) =>
        clients.all(sql, ...havingKey('client_id', 'client_search_key', start)),
      ),
    withKey: (keyId) =>
      database.read(async (sql) => {
        const text = 'SELECT client_id FROM client_search_key WHERE key = ? ORDER BY client_id';
        const rows = await sql.all<readonly [clientId: string]>(text, keyId);
        return rows.flat();
      }),
    replace: (client, was) =>
      write(
        client,
        'UPDATE client SET record = ?2 WHERE client_id = ?1 AND record = coalesce(?3, record)',
        [recordOf(was)],
        async (sql) => {
          if (narrows(client, was)) await tellOfRules(sql, client.client_id, clock.now());
        },
      ),
    remove: (clientId, was) =>
      database.write(async (sql) => {
        const text = 'DELETE FROM client WHERE client_id = ?1 AND record = coalesce(?2, record)';
        if ((await sql.run(text, clientId, recordOf(was))) === 0) return false;
        await removeKeys(sql, clientId);
        return true;
      }, MAKES_ROOM),
  };
}
