import { hash } from 'node:crypto';
import { notify } from '#shared/mail/notify.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import { createRegistrationLinks, REGISTRATION_PATH } from '#shared/people/registration.ts';
import { Conflict, type House, InputError } from '../operation.ts';

/**
 * Makes a link with which somebody chooses a name themself, and shows or mails it. Throws `Conflict` where
 * `people.registration` is off, and `InputError` for an address to which nothing can be mailed.
 */
export async function makeRegistrationLink(house: House, typed: string, mailed: boolean) {
  const { config, clock } = house;
  const address = mailAddress(typed);
  if (address === undefined) {
    throw new InputError(['emails'], 'must be an address such as alice@example.com');
  }
  if (config.people.registration === 'off') {
    throw new Conflict(
      'people.registration is off, so nobody chooses a name themself: give the NAME, or set it to invited',
    );
  }
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
