import * as z from 'zod';
import { disablePerson, enablePerson } from '#shared/people/people.ts';
import { operation } from '../operation.ts';
import { personName } from './person-name.ts';
import { untold, untoldShown } from './untold.ts';

const input = z.strictObject({ name: personName });
const output = z.strictObject({
  id: z.string(),
  name: z.string(),
  disabled: z.boolean().describe('whether the person is disabled and cannot sign in'),
});

const common = {
  effect: 'changes',
  repeatable: true,
  input,
  operands: ['name'],
} as const;

/** Disabling a person twice changes nothing more. */
export const disableUser = operation({
  ...common,
  name: 'user disable',
  summary: 'stop a person from signing in; their sessions, grants and tokens end at once',
  output: output.extend(untoldShown),
  async run({ name: asked }, house) {
    const person = await disablePerson(house, asked);
    return { ...shown(person), ...(await untold(house.stores, person.id)) };
  },
});

export const enableUser = operation({
  ...common,
  name: 'user enable',
  summary: 'let a disabled person sign in again; earlier sessions and tokens stay revoked',
  output,
  run: async ({ name: asked }, house) => shown(await enablePerson(house, asked)),
});

const shown = ({ id, name, disabled = false }: Awaited<ReturnType<typeof enablePerson>>) => ({
  id,
  name,
  disabled,
});
