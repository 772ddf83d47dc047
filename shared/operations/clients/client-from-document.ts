import { BadDocument } from '#shared/client-documents/document.ts';
import { fetchDocument } from '#shared/client-documents/fetch-document.ts';
import { recordOf } from '#shared/client-documents/record.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { refuseKeysOfPeople } from './keys-of-client.ts';
import { Conflict, type House, InputError } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/**
 * Registers the client of a Client ID Metadata Document before any person uses it (draft section 6.10). A client that
 * people have already allowed stays after this, too. Throws `InputError` for a document that cannot be used, and
 * `Conflict`.
 */
export async function clientFromDocument(url: string, house: House): Promise<ClientRecord> {
  const found = await readDocument(url, house);
  const was = await house.stores.clients.get(url);
  if (was !== undefined && was.document?.registered !== undefined) {
    throw new Conflict(said('client-registered', { client: url }));
  }
  const client = recordOf(url, found.document, {
    now: house.clock.now(),
    fresh: found.fresh,
    was,
    registered: true,
  });
  await keepRegistered(client, was, house);
  return client;
}

/** Fetches a document. Throws `InputError` if it cannot be used. */
export const readDocument = (url: string, { documentNetwork }: Pick<House, 'documentNetwork'>) =>
  fetchDocument(url, documentNetwork).catch((error: unknown) => {
    if (error instanceof BadDocument) {
      throw new InputError(['document'], said('document-unusable', { why: error.words }));
    }
    throw error;
  });

/** Stores a client, replacing the record of a client that people have already allowed. Throws `Conflict`. */
export async function keepRegistered(
  client: ClientRecord,
  was: ClientRecord | undefined,
  { recorder, stores: { publicKeys } }: Pick<House, 'recorder' | 'stores'>,
): Promise<void> {
  await refuseKeysOfPeople(publicKeys, client);
  const { client_id: url } = client;
  const changing = (kind: 'client.added' | 'client.changed') =>
    recorder.changing('clients', { kind, client: url });
  const kept = was
    ? changing('client.changed').replace(client, was)
    : changing('client.added').add(client);
  if (!(await kept)) throw new Conflict(said('client-raced', { client: url }));
}
