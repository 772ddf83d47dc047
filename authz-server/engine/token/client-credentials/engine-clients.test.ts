import { expect, test } from '@jest/globals';
import type { Provider } from 'oidc-provider';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { clientAdapter } from '../../clients/clients.ts';
import type { AdapterStore } from '../../storage/store.ts';
import type { TokenServer } from '../token-request.ts';
import { engineClients } from './client-credentials.ts';

const RECORD: ClientRecord = {
  client_id: 'app',
  client_name: 'App',
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
  secret_hash: 'first',
  scope: 'read',
  created_at: 1,
};

/**
 * Returns clients of an engine that makes them from the adapter's records. The record is read each time, as from
 * PostgreSQL.
 */
function reading(stored: { record: ClientRecord; meanwhile?: () => void }) {
  let made = 0;
  const stores = {
    clients: { get: async () => structuredClone(stored.record) },
    revocations: {
      // The adapter calls this function before it reads the record.
      generation: async () => {
        stored.meanwhile?.();
        return 0;
      },
    },
  };
  const documents = { stored: stores.clients };
  const parts = { stores, documents, demoClients: false } as unknown as AdapterStore;
  const adapter = clientAdapter(parts);
  const find = async (id: string) => {
    made += 1;
    return adapter.find(id);
  };
  const clientNow = engineClients(
    { stores } as unknown as TokenServer,
    { Client: { find } } as unknown as Provider,
  );
  return { clientNow: () => clientNow('app'), made: () => made };
}

test('the engine makes a client once from the same record, even if the record is read again', async () => {
  const stored = { record: RECORD };
  const { clientNow, made } = reading(stored);
  expect(await clientNow()).toMatchObject({ allowed_scope: 'read' });
  expect(await clientNow()).toBe(await clientNow());
  expect(made()).toBe(1);
  stored.record = { ...RECORD, scope: 'write' };
  expect(await clientNow()).toMatchObject({ allowed_scope: 'write' });
  stored.record = RECORD;
  expect(await clientNow()).toMatchObject({ allowed_scope: 'read' });
  expect(made()).toBe(2);
});

test('a record that changes meanwhile is not cached under the former record', async () => {
  const stored = { record: RECORD, meanwhile: () => {} };
  const { clientNow } = reading(stored);
  stored.meanwhile = () => (stored.record = { ...RECORD, scope: 'write' });
  expect(await clientNow()).toMatchObject({ allowed_scope: 'read' });
  stored.meanwhile = () => {};
  expect(await clientNow()).toMatchObject({ allowed_scope: 'write' });
  stored.record = RECORD;
  expect(await clientNow()).toMatchObject({ allowed_scope: 'read' });
});
