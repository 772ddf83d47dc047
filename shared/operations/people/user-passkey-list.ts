import * as z from 'zod';
import { operation } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { keysOfPeople } from './keys-of-people.ts';
import { personName } from './person-name.ts';

const time = z.number().describe('milliseconds since the epoch');

export const passkeyOfUser = z.strictObject({
  id: z.string(),
  person: z.string(),
  domain: z.string().describe('the only domain where the passkey signs in (RP ID)'),
  name: z.string(),
  backed_up: z.boolean(),
  created_at: time,
  used_at: time.optional(),
  refused_at: time
    .optional()
    .describe(
      'the last time that the counter of a signature had not grown: an attacker may have a copy',
    ),
  disabled: z.boolean().optional().describe('the person cannot sign in'),
});

export const listPasskeys = operation({
  name: 'user passkey list',
  summary: 'list the passkeys with which people sign in, of all or of one person',
  effect: 'reads',
  input: z.strictObject({ name: personName.exactOptional(), ...pageInput }),
  operands: ['name'],
  output: pageOf(passkeyOfUser),
  async run(asked, { stores: { people, passkeys } }) {
    const { items, next } = await keysOfPeople(people, asked, ({ id }) => passkeys.of(id));
    return {
      items: items.map(({ person, key }) => ({
        id: key.id,
        person: person.name,
        domain: key.rpId,
        name: key.name,
        backed_up: key.backedUp,
        created_at: key.created_at,
        used_at: key.used_at,
        refused_at: key.refused_at,
        disabled: person.disabled || undefined,
      })),
      next,
    };
  },
});
