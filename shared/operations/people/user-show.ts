import * as z from 'zod';
import { personNamed } from '#shared/people/people.ts';
import { strongWays } from '#shared/people/second-factor/lacks.ts';
import { operation } from '../operation.ts';
import { personName } from './person-name.ts';
import { personMarks, personShown, shownPerson } from './person-shown.ts';
import { secondFactorDemand } from './second-factor-demand.ts';
import { secondFactorShown, shownSecondFactor } from './second-factor-shown.ts';

export const showUser = operation({
  name: 'user show',
  summary:
    'show the profile of a person, their second factor, and counts of sign-ins, grants and keys',
  effect: 'reads',
  input: z.strictObject({ name: personName }),
  operands: ['name'],
  output: z.strictObject({
    ...personShown,
    ...personMarks,
    disabled: z.boolean(),
    created_at: z.number().describe('milliseconds since the epoch'),
    sign_ins: z.int(),
    grants: z.int(),
    keys: z.int(),
    passkeys: z.int(),
    second_factor: secondFactorShown.exactOptional(),
    lacks_second_factor: z
      .boolean()
      .describe('the person needs a second factor, but has neither a second factor nor a passkey'),
  }),
  async run({ name: asked }, { stores, config }) {
    const { people, artefacts, publicKeys, passkeys, secondFactors } = stores;
    const person = await personNamed(people, asked);
    const { id, disabled = false, created_at } = person;
    const factor = await secondFactors.get(id);
    const { lacks_second_factor } = await strongWays(stores, secondFactorDemand(config), person);
    return {
      ...shownPerson(person),
      disabled,
      created_at,
      sign_ins: await artefacts.countByAccount('SignIn', id),
      grants: await artefacts.countByAccount('Access', id),
      keys: (await publicKeys.of({ kind: 'person', id })).length,
      passkeys: (await passkeys.of(id)).length,
      ...(factor && { second_factor: shownSecondFactor(factor) }),
      lacks_second_factor,
    };
  },
});
