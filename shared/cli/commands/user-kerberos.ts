import { setKerberos } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { withPeople } from '../stores/with-people.ts';

export const userKerberos: Command = {
  name: 'user kerberos',
  store: 'opens',
  summary: 'name the principals that let a person in by Negotiate; none: no ticket does',
  operands: ['NAME', '[PRINCIPAL...]'],
  details: [
    'PRINCIPAL: a name in Kerberos with its realm, such as alice@EXAMPLE.COM. They take the place of those',
    'before. The sessions, grants and tokens of the person end at once.',
  ],
  run: async ({ operands: [asked = '', ...principals] }, shell) => {
    const {
      id,
      name,
      kerberos = [],
    } = await withPeople(shell, (store) => setKerberos(store, asked, principals));
    return {
      json: { id, name, kerberos },
      lines: [
        kerberos.length === 0
          ? `No ticket lets ${name} in.`
          : `Tickets of ${kerberos.join(', ')} let ${name} in.`,
      ],
    };
  },
};
