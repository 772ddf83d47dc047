import * as z from 'zod';
import { admittedBy } from '#shared/config/production.ts';
import { hasOtherWayIn } from '#shared/people/other-ways-in.ts';
import { personNamed } from '#shared/people/people.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import { Conflict, Missing, operation } from '../operation.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

export const removePasskeyOfUser = operation({
  name: 'user passkey remove',
  summary:
    'remove a passkey of a person, and end the sign-ins, grants and tokens that came from it',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    id: z
      .string()
      .max(2048, fault(said('reference', { what: 'the id of a passkey' })))
      .describe('the id of the passkey'),
    last: z
      .boolean()
      .default(false)
      .describe('remove the passkey even if the person can then not sign in at all'),
  }),
  operands: ['name', 'id'],
  output: z.strictObject({ id: z.string(), person: z.string(), removed: z.literal(true) }),
  async run({ name: asked, id, last }, house) {
    const { id: accountId, name } = await personNamed(house.stores.people, asked);
    const mayBeLast =
      last || (await hasOtherWayIn(house.stores, admittedBy(house.config), accountId));
    const outcome = await removePasskey(house, { accountId, id, least: mayBeLast ? 0 : 1 });
    if (outcome === 'gone') {
      throw new Missing(said('no-passkey', { name, id }));
    }
    if (outcome === 'last') {
      throw new Conflict(said('last-passkey', { id, name }));
    }
    return { id, person: name, removed: true as const };
  },
});
