import * as z from 'zod';
import { personNamed } from '#shared/people/people.ts';
import { Conflict, operation } from '../operation.ts';
import { checkMail, mailPasswordLink, makePasswordLink, passwordLink } from './password-link.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';

export const recoverUser = operation({
  name: 'user recover',
  summary: 'make or mail a link with which a person who cannot sign in sets a new password',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    mail: z
      .boolean()
      .default(false)
      .describe(
        "send the link by mail to the person's first verified address, and do not print it",
      ),
    second_factor: z
      .boolean()
      .default(false)
      .describe(
        'the link also removes the second factor; without this option the second factor stays',
      ),
  }),
  operands: ['name'],
  output: passwordLink,
  check: ({ mail }, config) => checkMail(mail, config),
  async run({ name, mail, second_factor: secondFactor }, house) {
    const person = await personNamed(house.stores.people, name);
    if (mail) {
      const to = person.profile?.emails?.find(({ verified }) => verified)?.address;
      if (to === undefined) {
        throw new Conflict(said('address-unverified', { name: person.name }));
      }
      const kind = secondFactor ? 'recovery-of-everything' : 'recovery-by-operator';
      return mailPasswordLink(house, person, kind, to);
    }
    return makePasswordLink(house, person, { purpose: 'recovery', secondFactor });
  },
});
