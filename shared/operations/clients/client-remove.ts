import * as z from 'zod';
import { clearClient } from '#shared/people/access/of-client.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { DOCUMENT_KIND } from '#shared/stores/oauth/clients.ts';
import { type House, operation } from '../operation.ts';
import { clientId } from './client-id.ts';
import { findClient } from './find-client.ts';

/**
 * Removes a client. It raises the generation before the removal, so that a crash in between leaves no valid token,
 * and again afterwards, for a token issued in between. Resolves to the last generation, with which `clearClient`
 * removes the grants.
 */
export async function retireClient(
  { stores, recorder, clock, longestLife }: House,
  id: string,
): Promise<number> {
  const { artefacts, revocations } = stores;
  const until = rememberUntil(clock.now(), longestLife);
  await revocations.raise('client', id, until);
  await recorder.changing('clients', { kind: 'client.removed', client: id }).remove(id);
  await artefacts.remove(DOCUMENT_KIND, id);
  return revocations.raise('client', id, until);
}

export const removeClient = operation({
  name: 'client remove',
  summary:
    'remove a client with its consents and grants; the next request with its tokens is refused',
  effect: 'changes',
  input: z.strictObject({ client_id: clientId }),
  operands: ['client_id'],
  output: z.strictObject({
    client_id: z.string(),
    client_name: z.string(),
    removed: z.literal(true),
  }),
  async run({ client_id: id }, house) {
    const { client_name } = await findClient(house.stores.clients, id);
    await clearClient(house, id, await retireClient(house, id));
    return { client_id: id, client_name, removed: true as const };
  },
});
