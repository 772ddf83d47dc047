import * as z from 'zod';
import { newPassword } from '#shared/people/new-password.ts';
import { addPerson, newName, newPasswordText } from '#shared/people/people.ts';
import { operation } from '../operation.ts';
import { newPersonName, reuseName } from './new-person-name.ts';
import { passwordMember, passwordShown } from './password-member.ts';
import { profileMembers } from './profile-members.ts';

export const addUser = operation({
  name: 'user add',
  summary: 'add a person who can sign in',
  effect: 'changes',
  input: z.strictObject({
    name: newPersonName,
    password: passwordMember,
    ...profileMembers,
    reuse_name: reuseName,
  }),
  operands: ['name'],
  output: z.strictObject({ id: z.string(), name: z.string(), password: passwordShown }),
  async check({ name, password }) {
    newName(name);
    if (password !== undefined) await newPasswordText(password);
  },
  async run({ name: asked, password: given, reuse_name, ...profile }, house) {
    const password = given ?? newPassword(house.random);
    const known = Object.keys(profile).length > 0 && { profile };
    const former = reuse_name ? 'reused' : 'refused';
    const { id, name } = await addPerson(house, { name: asked, password, ...known }, former);
    return { id, name, ...(given === undefined && { password }) };
  },
});
