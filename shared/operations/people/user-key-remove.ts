import * as z from 'zod';
import { personNamed } from '#shared/people/people.ts';
import { Missing, operation } from '../operation.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

export const removeKeyOfUser = operation({
  name: 'user key remove',
  summary: 'remove a key of a person; the next request with the key is refused',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    fingerprint: z
      .string()
      .max(512, fault(said('reference', { what: 'the fingerprint of a key' })))
      .describe('the fingerprint of the key'),
  }),
  operands: ['name', 'fingerprint'],
  output: z.strictObject({ fingerprint: z.string(), person: z.string(), removed: z.literal(true) }),
  async run({ name: asked, fingerprint }, { stores: { people, publicKeys }, recorder }) {
    const { id, name } = await personNamed(people, asked);
    const owner = (await publicKeys.get(fingerprint))?.owner;
    const theirs = owner?.kind === 'person' && owner.id === id;
    const removed = { kind: 'public-key.removed', key: fingerprint, person: id } as const;
    if (!theirs || !(await recorder.changing('publicKeys', removed).remove(fingerprint))) {
      throw new Missing(said('no-key-of-person', { name, id: fingerprint }));
    }
    return { fingerprint, person: name, removed: true as const };
  },
});
