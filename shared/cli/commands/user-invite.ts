import { addPerson, newName } from '#shared/people/people.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { type Command, Failure, UsageError } from '../arguments/command.ts';
import { PROFILE_OPTIONS, profileFrom } from '../arguments/profile-options.ts';
import { reportLink } from '../stores/report-link.ts';
import { demandMail, reportMail } from '../stores/report-mail.ts';
import { reportRegistration } from '../stores/report-registration.ts';
import { withPeople, type WholeStore } from '../stores/with-people.ts';

export const userInvite: Command = {
  name: 'user invite',
  store: 'opens',
  summary: 'add a person without a password, and print or mail a link with which they set one',
  operands: ['[NAME]'],
  options: {
    ...PROFILE_OPTIONS,
    mail: {
      help: 'send the link to the first --email, and do not print it: it works for 24 hours',
    },
    'reuse-name': { help: 'accept the name of somebody who was removed' },
  },
  details: [
    'The link works once, for 15 minutes. Whoever has it sets the password: send it to that person alone.',
    'A link by mail verifies the address that it was sent to. Without NAME the person chooses a name themself, with a link',
    'for one --email; people.registration must be invited or open.',
    'If it expired, the same command prints a new one, as long as the person has no way to sign in.',
  ],
  run: async (input, shell) => {
    const profile = profileFrom(input);
    const [asked] = input.operands;
    const mailed = input.flag('mail');
    if (asked === undefined) {
      const [typed, ...more] = input.texts('email');
      if (typed === undefined || more.length > 0 || Object.keys(profile).length > 1) {
        throw new UsageError('without NAME give one --email, and nothing else of the person');
      }
      return withPeople(shell, (store, config) =>
        reportRegistration(shell, store, config, { typed, mailed }),
      );
    }
    const name = newName(asked);
    const hasProfile = Object.keys(profile).length > 0;
    return withPeople(shell, async (store, config) => {
      const known = await store.stores.people.getByName(name);
      if (known !== undefined) await checkWaiting(store, known, hasProfile);
      const to = (known?.profile ?? profile).emails?.[0]?.address;
      if (mailed) demandMail(config);
      if (mailed && to === undefined) throw new Failure(`${name} has no address: give --email`);
      const former = input.flag('reuse-name') ? 'reused' : 'refused';
      const person =
        known ?? (await addPerson(store, { name, ...(hasProfile && { profile }) }, former));
      if (mailed && to !== undefined) {
        return reportMail(shell, store, config, { person, kind: 'invitation', to });
      }
      return reportLink(shell, store, config, { person, purpose: 'invitation' });
    });
  },
};

/** Throws `Failure` unless the person was invited before and has no way to sign in yet. */
async function checkWaiting(
  { stores }: WholeStore,
  { id, name, password_hash, kerberos = [] }: PersonRecord,
  hasProfile: boolean,
): Promise<void> {
  const keys = await stores.publicKeys.of({ kind: 'person', id });
  const passkeys = await stores.passkeys.of(id);
  if (password_hash !== undefined || keys.length + passkeys.length + kerberos.length > 0) {
    throw new Failure(
      `${name} is here already and can sign in: user recover ${name} prints a link for a new password`,
    );
  }
  if (hasProfile) {
    throw new Failure(`${name} was invited already: change the profile with user set ${name}`);
  }
}
