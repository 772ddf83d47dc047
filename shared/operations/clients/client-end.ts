import * as z from 'zod';
import { endGrant, findAccess } from '#shared/people/access/grants.ts';
import { endClient } from '#shared/people/access/of-client.ts';
import { Conflict, Missing, operation } from '../operation.ts';
import { partId } from '../part-id.ts';
import { untold, untoldShown } from '../people/untold.ts';
import { SPELLINGS } from '../texts.ts';
import { clientId } from './client-id.ts';
import { findClient, isBuiltIn } from './find-client.ts';
import { said } from '#shared/refusals/operations.ts';

/**
 * A built-in client whose generation was raised is treated as removed by an operator, so it is not registered again.
 */
export const endAccessOfClient = operation({
  name: 'client end',
  summary:
    'end all consents, grants and tokens of a client, or one grant; the client stays registered',
  effect: 'changes',
  repeatable: true,
  input: z.strictObject({
    client_id: clientId,
    grant: partId
      .describe('end only this grant with its tokens; the consent of the person stays')
      .register(SPELLINGS, { value: 'ID' }),
  }),
  operands: ['client_id'],
  parts: ['grant'],
  output: z.strictObject({
    client_id: z.string(),
    grant: partId,
    ended: z.literal(true),
    ...untoldShown,
  }),
  async run({ client_id, grant }, house) {
    await findClient(house.stores.clients, client_id);
    if (grant === undefined) {
      if (isBuiltIn(client_id)) {
        throw new Conflict(said('client-built-in-end', { client: client_id }));
      }
      await endClient(house, client_id);
      return {
        client_id,
        ended: true as const,
        ...(await untold(house.stores, client_id, 'client')),
      };
    }
    const access = await findAccess(house, grant);
    if (access?.clientId !== client_id) {
      throw new Missing(said('no-grant-of-client', { client: client_id, id: grant }));
    }
    const { accountId: person } = access;
    await endGrant(house, grant, { kind: 'grant.ended', person, grant, client: client_id });
    return { client_id, grant, ended: true as const, ...(await untold(house.stores, person)) };
  },
});
