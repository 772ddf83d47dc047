import * as z from 'zod';
import { newPassword } from '#shared/people/new-password.ts';
import { newPasswordText, setPassword } from '#shared/people/people.ts';
import { operation } from '../operation.ts';
import { keysLeft, keysLeftShown } from './keys-left.ts';
import { passwordMember, passwordShown } from './password-member.ts';
import { personName } from './person-name.ts';
import { untold, untoldShown } from './untold.ts';

export const renewPassword = operation({
  name: 'user passwd',
  summary: 'give a person a new password; their sessions, grants and tokens end at once',
  effect: 'changes',
  repeatable: true,
  input: z.strictObject({ name: personName, password: passwordMember }),
  operands: ['name'],
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    password: passwordShown,
    ...keysLeftShown,
    ...untoldShown,
  }),
  async check({ password }) {
    if (password !== undefined) await newPasswordText(password);
  },
  async run({ name: asked, password: given }, house) {
    const password = given ?? newPassword(house.random);
    const { id, name } = await setPassword(house, asked, password);
    return {
      id,
      name,
      ...(given === undefined && { password }),
      ...(await keysLeft(house.stores, id)),
      ...(await untold(house.stores, id)),
    };
  },
});
