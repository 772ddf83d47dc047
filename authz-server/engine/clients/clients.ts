import { AsyncLocalStorage } from 'node:async_hooks';
import { errors, Provider } from 'oidc-provider';
import type { Adapter } from 'oidc-provider';
import { BadDocument, NoDocument } from '#shared/client-documents/document.ts';
import { FetchLater } from '#shared/client-documents/document-clients.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { keyInDirectory } from '#shared/people/key-purposes.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { TooManyRequests } from '../../base/errors.ts';
import { clientMetadata } from './client-metadata.ts';
import type { AdapterStore } from '../storage/store.ts';

/** The record that a client is made of, in place of the one that is stored by then. */
const given = new AsyncLocalStorage<ClientRecord>();

/** Makes the engine's client of a record. */
export const clientOf = (provider: Provider, record: ClientRecord) =>
  given.run(record, () => provider.Client.find(record.client_id));

/** Clients are managed by the command line, the engine only reads them. It knows nothing of those of GNAP. */
export function clientAdapter({ stores, documents, demoClients }: AdapterStore): Adapter {
  const readOnly = () => Promise.reject(new Error('clients are not written by the engine'));
  /** Results by request: the engine asks for the same client again when it answers with an error. */
  const results = new WeakMap<object, Map<string, ReturnType<typeof documents.current>>>();

  const clientNow = (id: string) => {
    const record = given.getStore();
    if (record?.client_id === id) return record;
    const { ctx } = Provider;
    if (ctx === undefined || !BEGINNING.has(ctx.oidc?.route ?? '')) return stores.clients.get(id);
    const ofRequest = results.get(ctx) ?? new Map();
    results.set(ctx, ofRequest);
    const result = ofRequest.get(id) ?? fetching(documents.current(id, customerOf(ctx.ip)));
    ofRequest.set(id, result);
    return result;
  };
  return {
    async find(id) {
      // In this order: whoever shows a secret that is replaced before the client ends gets no token of after that.
      const generation = await stores.revocations.generation('client', id);
      const client = await clientNow(id);
      if (client === undefined || (client.demo === true && !demoClients)) return undefined;
      if (client.gnap !== undefined) return undefined;
      const metadata = clientMetadata(await withoutOtherUse(client, stores));
      return { ...metadata, ...(await strangeness(client, documents.stored)), generation };
    },
    upsert: readOnly,
    findByUid: readOnly,
    findByUserCode: readOnly,
    destroy: readOnly,
    consume: readOnly,
    revokeByGrantId: readOnly,
  };
}

/**
 * Tells which rows of a client count as those of a stranger (storage/strangers.ts): a stranger who writes documents
 * has as many clients with keys as they like. `is_unknown`: nobody has let it in yet.
 */
async function strangeness({ client_id, document }: ClientRecord, stored: Clients) {
  if (document === undefined || document.registered) return {};
  return { describes_itself: true, is_unknown: (await stored.get(client_id)) === undefined };
}

/**
 * Leaves the keys out by which somebody is let in: no key is used in two protocols (RFC 9729 section 8). A document may name
 * any; keys of other clients were looked at when they were added.
 */
async function withoutOtherUse(
  client: ClientRecord,
  stores: AdapterStore['stores'],
): Promise<ClientRecord> {
  if (client.document === undefined || client.jwks === undefined) return client;
  const uses = client.jwks.keys.map((jwk) => keyInDirectory(stores, jwk));
  const isFree = (await Promise.all(uses)).map((use) => use === undefined);
  return { ...client, jwks: { keys: client.jwks.keys.filter((_, index) => isFree[index]) } };
}

/** Where a description is fetched. Nowhere else: not for an introspection, say. */
const BEGINNING: ReadonlySet<string> = new Set([
  'authorization',
  'pushed_authorization_request',
  'token',
]);

async function fetching<T>(found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof FetchLater) throw new TooManyRequests(error.seconds);
    if (!(error instanceof BadDocument)) throw error;
    const refusal = new errors.InvalidClient(error.message);
    // A network tells strangers nothing of itself.
    refusal.error_description =
      error instanceof NoDocument
        ? 'the description of the client cannot be fetched'
        : `the description of the client cannot be used: ${error.message}`;
    throw refusal;
  }
}
