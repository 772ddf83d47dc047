import * as z from 'zod';
import { addPerson, newName } from '#shared/people/people.ts';
import type { PersonRecord, Profile } from '#shared/stores/people/people.ts';
import { Conflict, type House, InputError, operation } from '../operation.ts';
import { newPersonName, reuseName } from './new-person-name.ts';
import { checkMail, mailPasswordLink, makePasswordLink, passwordLink } from './password-link.ts';
import { profileMembers } from './profile-members.ts';
import { said } from '#shared/refusals/operations.ts';
import { hash } from 'node:crypto';
import type { Config } from '#shared/config/schema.ts';
import { notify } from '#shared/mail/notify.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import { createRegistrationLinks, REGISTRATION_PATH } from '#shared/people/registration.ts';

/** Inviting a person again, who cannot sign in yet, makes another link that replaces the former one. */
export const inviteUser = operation({
  name: 'user invite',
  summary:
    'add a person without a password, and make or mail a link for the person to set a password',
  effect: 'changes',
  input: z.strictObject({
    name: newPersonName.exactOptional(),
    ...profileMembers,
    mail: z
      .boolean()
      .default(false)
      .describe(
        'send the link by mail to the first --email, and do not print it; valid for 24 hours',
      ),
    reuse_name: reuseName,
  }),
  operands: ['name'],
  output: passwordLink,
  check(input, config) {
    const { name, mail, reuse_name: _, ...profile } = input;
    checkMail(mail, config);
    if (name === undefined) registrationAddress(onlyAddress(profile), config);
    else newName(name);
  },
  async run({ name: asked, mail, reuse_name, ...profile }, house) {
    if (asked === undefined) return makeRegistrationLink(house, onlyAddress(profile), mail);
    const name = newName(asked);
    const hasProfile = Object.keys(profile).length > 0;
    const known = await house.stores.people.getByName(name);
    if (known !== undefined) await checkWaiting(house, known, hasProfile);
    const to = (known?.profile ?? profile).emails?.[0]?.address;
    if (mail && to === undefined) throw new Conflict(said('no-address', { name }));
    const former = reuse_name ? 'reused' : 'refused';
    const person =
      known ?? (await addPerson(house, { name, ...(hasProfile && { profile }) }, former));
    if (mail && to !== undefined) return mailPasswordLink(house, person, 'invitation', to);
    return makePasswordLink(house, person, { purpose: 'invitation' });
  },
});

/**
 * Returns the only address for a person who chooses their own name. Throws `InputError` if the input has more data
 * about the person.
 */
function onlyAddress({ emails = [], ...more }: Profile): string {
  const [email, ...others] = emails;
  if (email !== undefined && others.length + Object.keys(more).length === 0) return email.address;
  throw new InputError(['name'], said('missing-name'));
}

/** Throws `Conflict` unless the person was invited before and cannot sign in yet. */
async function checkWaiting(
  { stores }: House,
  { id, name, password_hash, kerberos = [] }: PersonRecord,
  hasProfile: boolean,
): Promise<void> {
  const keys = await stores.publicKeys.of({ kind: 'person', id });
  const passkeys = await stores.passkeys.of(id);
  if (password_hash !== undefined || keys.length + passkeys.length + kerberos.length > 0) {
    throw new Conflict(said('can-sign-in', { name }));
  }
  if (hasProfile) {
    throw new Conflict(said('invited-already', { name }));
  }
}

/**
 * Makes a link with which a person chooses their own name, and shows or mails it. Throws as `registrationAddress`.
 */
async function makeRegistrationLink(house: House, typed: string, mailed: boolean) {
  const { config, clock } = house;
  const address = registrationAddress(typed, config);
  if (mailed) {
    const nobody = `(nobody) ${hash('sha256', addressKey(address), 'base64url')}`;
    await notify(house, nobody, 'registration-invitation', 'en', { to: address });
    return { mailed_to: address };
  }
  const { secret, life } = await createRegistrationLinks(house).make(address, { mailed: false });
  return {
    link: `${config.issuer}${REGISTRATION_PATH}${secret}`,
    expires_at: Math.floor(clock.now() / 1000) + life,
  };
}

/**
 * Returns the stored form of the address. Throws `InputError` if `people.registration` is off, and for an address to
 * which no mail can be sent.
 */
function registrationAddress(typed: string, { people }: Config): string {
  if (people.registration === 'off') {
    throw new InputError(['name'], said('missing-name-unregistered'));
  }
  const address = mailAddress(typed);
  if (address !== undefined) return address;
  throw new InputError(['emails'], said('mail-address'));
}
