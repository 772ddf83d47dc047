import * as z from 'zod';
import { endEverything } from '#shared/people/access/everything.ts';
import { personNamed } from '#shared/people/people.ts';
import { Missing, operation } from '../operation.ts';
import { personName } from './person-name.ts';
import { secondFactorShown, shownSecondFactor } from './second-factor-shown.ts';
import { said } from '#shared/refusals/operations.ts';

const input = z.strictObject({ name: personName });

export const showSecondFactor = operation({
  name: 'user second-factor',
  summary:
    'show whether a person has a second factor, or remove it and revoke all sessions and tokens',
  effect: 'reads',
  input,
  operands: ['name'],
  output: z.union([
    z.strictObject({ person: z.string(), set_up: z.literal(false) }),
    z.strictObject({ person: z.string(), set_up: z.literal(true), ...secondFactorShown.shape }),
  ]),
  async run({ name: asked }, { stores: { people, secondFactors } }) {
    const { id, name } = await personNamed(people, asked);
    const factor = await secondFactors.get(id);
    if (factor === undefined) return { person: name, set_up: false as const };
    return { person: name, set_up: true as const, ...shownSecondFactor(factor) };
  },
});

/**
 * The second factor is removed before all access ends, so that a sign-in without it in between has an earlier
 * generation.
 */
export const removeSecondFactor = operation({
  name: 'user second-factor-remove',
  summary: 'remove the second factor of a person, and revoke all sessions, grants and tokens',
  effect: 'changes',
  input,
  operands: ['name'],
  output: z.strictObject({ person: z.string(), removed: z.literal(true) }),
  async run({ name: asked }, house) {
    const { id, name } = await personNamed(house.stores.people, asked);
    const event = { kind: 'second-factor.removed', person: id } as const;
    if (!(await house.recorder.changing('secondFactors', event).remove(id))) {
      throw new Missing(said('no-second-factor', { name }));
    }
    await endEverything(house, id);
    return { person: name, removed: true as const };
  },
});
