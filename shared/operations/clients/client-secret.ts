import * as z from 'zod';
import { newSecret } from '#shared/people/client-secret.ts';
import { Conflict, operation } from '../operation.ts';
import { overlap } from '../overlap.ts';
import { clientId } from './client-id.ts';
import { findClient, isBuiltIn } from './find-client.ts';
import { said } from '#shared/refusals/operations.ts';

export const renewSecret = operation({
  name: 'client secret',
  summary: 'give a client a new secret; the old one stays valid for a while',
  effect: 'changes',
  input: z.strictObject({ client_id: clientId, overlap: overlap('secret') }),
  operands: ['client_id'],
  output: z.strictObject({
    client_id: z.string(),
    client_secret: z.string().describe('shown only this once'),
    overlap: z.int().describe('seconds for which the old secret stays valid'),
  }),
  run: async ({ client_id: id, overlap: seconds }, { stores, recorder, clock, random }) => {
    const client = await findClient(stores.clients, id);
    if (isBuiltIn(id)) {
      throw new Conflict(said('client-built-in-secret', { client: id }));
    }
    const { secret_hash: old, former_secret: _, ...rest } = client;
    if (old === undefined) {
      throw new Conflict(
        said('client-without-secret', { client: id, method: client.token_endpoint_auth_method }),
      );
    }
    const { secret, secret_hash } = newSecret(random);
    const now = clock.now();
    const former_secret = { hash: old, from: now, until: now + 1000 * seconds };
    const changed = { ...rest, secret_hash, ...(seconds > 0 && { former_secret }) };
    // Each secret that an operator receives must be valid, so of several changes at once all but one are refused.
    const event = { kind: 'client.secret-changed', client: id } as const;
    if (!(await recorder.changing('clients', event).replace(changed, client))) {
      throw new Conflict(said('client-raced', { client: id }));
    }
    return { client_id: id, client_secret: secret, overlap: seconds };
  },
});
