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

/** The record from which the engine makes a client; the stored record may be newer. */
const given = new AsyncLocalStorage<ClientRecord>();

/** Makes the engine's client from a record. */
export const clientOf = (provider: Provider, record: ClientRecord) =>
  given.run(record, () => provider.Client.find(record.client_id));

/**
 * Gives the engine read access to clients, which are managed with the command line. The engine does not see clients of
 * GNAP.
 */
export function clientAdapter({ stores, documents, demoClients }: AdapterStore): Adapter {
  const readOnly = () => Promise.reject(new Error('clients are not written by the engine'));
  /** The results by request, since the engine asks for the client again when it answers with an error. */
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
      // The order matters: a client that authenticates with a secret that was replaced before the client ended gets no
      // token with a later generation.
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
 * Marks a client whose rows count against the limits of strangers (storage/strangers.ts): anybody can write documents
 * for any number of clients with keys. `is_unknown`: no person has allowed the client yet.
 */
async function strangeness({ client_id, document }: ClientRecord, stored: Clients) {
  if (document === undefined || document.registered) return {};
  return { describes_itself: true, is_unknown: (await stored.get(client_id)) === undefined };
}

/**
 * Removes keys that are registered for sign-in, since no key is used in two protocols (RFC 9729 section 8). A document
 * may name any key; the keys of other clients were checked when they were added.
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

/**
 * The routes at which the engine may fetch a metadata document. Other routes, such as introspection, use the stored
 * one.
 */
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
    refusal.cause = error;
    // The error must not reveal details of our network to strangers.
    refusal.error_description =
      error instanceof NoDocument
        ? 'the description of the client cannot be fetched'
        : `the description of the client cannot be used: ${plain(error.message)}`;
    throw refusal;
  }
}

/** Replaces characters that an error description must not have (RFC 6749 section 5.2). */
const plain = (text: string) => text.replaceAll(/[^ !#-[\]-~]/g, '?').slice(0, 200);
