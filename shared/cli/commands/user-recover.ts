import { personNamed } from '#shared/people/people.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { reportLink } from '../stores/report-link.ts';
import { reportMail } from '../stores/report-mail.ts';
import { withPeople } from '../stores/with-people.ts';

export const userRecover: Command = {
  name: 'user recover',
  store: 'opens',
  summary: 'print or mail a link with which a person who cannot sign in sets a new password',
  operands: ['NAME'],
  options: {
    mail: { help: 'send the link to their first verified address, and do not print it' },
    'second-factor': {
      help: 'the link removes their second factor as well; without it that stays',
    },
  },
  details: [
    'The link works once, for 15 minutes, and takes the place of an earlier one. Whoever has it sets the password: make',
    'sure who asks, and send it to that person alone. The old password counts until the link is used. Then all sign-ins,',
    'grants and tokens of the person end; passkeys and keys stay.',
  ],
  run: ({ operands: [name = ''], flag }, shell) =>
    withPeople(shell, async (store, config) => {
      const person = await personNamed(store.stores.people, name);
      const secondFactor = flag('second-factor');
      if (flag('mail')) {
        const to = person.profile?.emails?.find(({ verified }) => verified)?.address;
        if (to === undefined) {
          throw new Failure(`${person.name} has no verified address: leave --mail out`);
        }
        const kind = secondFactor ? 'recovery-of-everything' : 'recovery-by-operator';
        return reportMail(shell, store, config, { person, kind, to });
      }
      return reportLink(shell, store, config, { person, purpose: 'recovery', secondFactor });
    }),
};
