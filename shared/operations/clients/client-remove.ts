import { z } from 'zod';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { DOCUMENT_KIND } from '#shared/stores/oauth/clients.ts';
import { operation } from '../operation.ts';
import { clientId } from './client-id.ts';
import { findClient } from './find-client.ts';

/**
 * The generation is raised before the removal, so that a crash between them leaves no living token,
 * and again after it, for a token that was issued between them.
 */
export const removeClient = operation({
  name: 'client remove',
  summary: 'remove a client; the next request with one of its tokens is refused',
  effect: 'changes',
  input: z.strictObject({ client_id: clientId }),
  operands: ['client_id'],
  output: z.strictObject({
    client_id: z.string(),
    client_name: z.string(),
    removed: z.literal(true),
  }),
  run: async ({ client_id: id }, { stores, recorder, clock, longestLife }) => {
    const { artefacts, clients, revocations } = stores;
    const { client_name } = await findClient(clients, id);
    const until = rememberUntil(clock.now(), longestLife);
    await revocations.raise('client', id, until);
    await recorder.changing('clients', { kind: 'client.removed', client: id }).remove(id);
    await artefacts.remove(DOCUMENT_KIND, id);
    await revocations.raise('client', id, until);
    return { client_id: id, client_name, removed: true as const };
  },
});
