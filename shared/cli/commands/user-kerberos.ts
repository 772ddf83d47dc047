import { nameUserInKerberos } from '#shared/operations/people/user-kerberos.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userKerberos = commandOf(nameUserInKerberos, {
  details: [
    'PRINCIPAL is a Kerberos name with its realm, such as alice@EXAMPLE.COM. The list replaces the earlier list.',
    'The sessions, grants and tokens of the person end at once.',
  ],
  lines: ({ name, kerberos }) => [
    kerberos.length === 0
      ? `No ticket lets ${name} in.`
      : `Tickets of ${kerberos.join(', ')} let ${name} in.`,
  ],
});
