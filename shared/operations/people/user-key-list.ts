import * as z from 'zod';
import { operation } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { keysOfPeople } from './keys-of-people.ts';
import { personName } from './person-name.ts';

const time = z.number().describe('milliseconds since the epoch');

export const keyOfUser = z.strictObject({
  fingerprint: z.string(),
  person: z.string(),
  scheme: z.string(),
  name: z.string(),
  origin: z.string().optional().describe('the only origin where the key is valid'),
  created_at: time,
  used_at: time.optional(),
  disabled: z.boolean().optional().describe('the person cannot sign in'),
});

export const listKeysOfUsers = operation({
  name: 'user key list',
  summary: 'list the keys that sign people in without a password, of all or of one person',
  effect: 'reads',
  input: z.strictObject({ name: personName.exactOptional(), ...pageInput }),
  operands: ['name'],
  output: pageOf(keyOfUser),
  async run(asked, { stores: { people, publicKeys } }) {
    const { items, next } = await keysOfPeople(people, asked, ({ id }) =>
      publicKeys.of({ kind: 'person', id }),
    );
    return {
      items: items.map(({ person, key }) => ({
        fingerprint: key.id,
        person: person.name,
        scheme: key.scheme,
        name: key.name,
        origin: key.origin,
        created_at: key.created_at,
        used_at: key.used_at,
        disabled: person.disabled || undefined,
      })),
      next,
    };
  },
});
