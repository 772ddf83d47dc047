import { hash } from 'node:crypto';
import type { Config } from '#shared/config/schema.ts';
import { notify } from '#shared/mail/notify.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import { createRegistrationLinks, REGISTRATION_PATH } from '#shared/people/registration.ts';
import { type House, InputError } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** Makes a link with which somebody chooses a name themself, and shows or mails it. Throws as `registrationAddress`. */
export async function makeRegistrationLink(house: House, typed: string, mailed: boolean) {
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
 * Returns the address as it is kept. Throws `InputError` where `people.registration` is off, and for an address to which
 * nothing can be mailed.
 */
export function registrationAddress(typed: string, { people }: Config): string {
  if (people.registration === 'off') {
    throw new InputError(['name'], said('missing-name-unregistered'));
  }
  const address = mailAddress(typed);
  if (address !== undefined) return address;
  throw new InputError(['emails'], said('mail-address'));
}
