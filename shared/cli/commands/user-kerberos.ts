import { setKerberos } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { withPeople } from '../stores/with-people.ts';

export const userKerberos: Command = {
  name: 'user kerberos',
  store: 'opens',
  summary:
    'set the Kerberos principals of a person for Negotiate; without any, no ticket signs them in',
  operands: ['NAME', '[PRINCIPAL...]'],
  details: [
    'PRINCIPAL is a Kerberos name with its realm, such as alice@EXAMPLE.COM. The list replaces the earlier one.',
    'The sessions, grants and tokens of the person end at once.',
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
