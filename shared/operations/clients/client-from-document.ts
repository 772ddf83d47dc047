import { BadDocument } from '#shared/client-documents/document.ts';
import { fetchDocument } from '#shared/client-documents/fetch-document.ts';
import { recordOf } from '#shared/client-documents/record.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Conflict, type House, InputError } from '../operation.ts';

/**
 * Registers the client that a Client ID Metadata Document describes, before anybody asks for it (draft section 6.10). One
 * that people have let in already stays after this, too. Throws `InputError` for a document that cannot be used, and
 * `Conflict`.
 */
export async function clientFromDocument(
  url: string,
  { stores: { clients }, recorder, documentNetwork, clock }: House,
): Promise<ClientRecord> {
  const { document, fresh } = await fetchDocument(url, documentNetwork).catch((error: unknown) => {
    if (error instanceof BadDocument) {
      throw new InputError(['document'], `cannot be used: ${error.message}`);
    }
    throw error;
  });
  const was = await clients.get(url);
  if (was !== undefined && was.document?.registered !== undefined) {
    throw new Conflict(`client ${url} is registered already`);
  }
  const client = recordOf(url, document, { now: clock.now(), fresh, was, registered: true });
  const kept = was
    ? recorder.changing('clients', { kind: 'client.changed', client: url }).replace(client, was)
    : recorder.changing('clients', { kind: 'client.added', client: url }).add(client);
  if (!(await kept)) throw new Conflict(`client ${url} was changed meanwhile: try again`);
  return client;
}
