import { hash } from 'node:crypto';
import type { Config } from '#shared/config/schema.ts';
import { notify } from '#shared/mail/notify.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import { createRegistrationLinks, REGISTRATION_PATH } from '#shared/people/registration.ts';
import { Failure, type Report, type Shell, UsageError } from '../arguments/command.ts';
import { minute } from '../lines/last-use.ts';
import { demandMail } from './report-mail.ts';
import type { WholeStore } from './with-people.ts';

/**
 * Makes a link with which somebody chooses a name themself, and shows or mails it. Throws `Failure` where
 * `people.registration` is off, and `UsageError` for an address to which nothing can be mailed.
 */
export async function reportRegistration(
  { clock, random }: Shell,
  { stores }: WholeStore,
  config: Config,
  { typed, mailed }: { typed: string; mailed: boolean },
): Promise<Report> {
  const address = mailAddress(typed);
  if (address === undefined) {
    throw new UsageError('--email must be an address such as alice@example.com');
  }
  if (config.people.registration === 'off') {
    throw new Failure(
      'people.registration is off, so nobody chooses a name themself: give the NAME, or set it to invited',
    );
  }
  if (mailed) {
    demandMail(config);
    const nobody = `(nobody) ${hash('sha256', addressKey(address), 'base64url')}`;
    const server = { config, stores, clock, random };
    await notify(server, nobody, 'registration-invitation', 'en', { to: address });
    return { json: { mailed_to: address }, lines: [`a link will be mailed to: ${address}`] };
  }
  const { secret, life } = await createRegistrationLinks({ stores, random }).make(address, false);
  const link = `${config.issuer}${REGISTRATION_PATH}${secret}`;
  const end = clock.now() + life * 1000;
  return {
    json: { link, expires_at: Math.floor(end / 1000) },
    lines: [`link: ${link}`, `works once, until: ${minute(end)}`],
  };
}
