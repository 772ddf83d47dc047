import * as z from 'zod';
import type { Config } from '#shared/config/schema.ts';
import type { LinkKind } from '#shared/mail/kinds.ts';
import { notify } from '#shared/mail/notify.ts';
import { createRecoveryLinks, LINK_LIFE, LINK_PATH } from '#shared/people/recovery-links.ts';
import type { Recovery } from '#shared/people/recovery-links.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { Conflict, type House, InputError } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** A link with which a person sets a password. */
export const passwordLink = z.strictObject({
  id: z.string().exactOptional(),
  name: z.string().exactOptional().describe('absent: the person chooses the name'),
  link: z
    .string()
    .exactOptional()
    .describe('the holder of this link sets the password, once; shown only this once'),
  expires_at: z.int().exactOptional().describe('seconds since the epoch'),
  mailed_to: z
    .string()
    .exactOptional()
    .describe('the address to which the server sends the link instead'),
  removes_second_factor: z.literal(true).exactOptional(),
});

/** Makes a link with which a person sets a password. Throws `Conflict` for a disabled person. */
export async function makePasswordLink(
  house: House,
  person: PersonRecord,
  more: Omit<Recovery, 'person'>,
) {
  checkEnabled(person);
  const { id, name } = person;
  const secret = await createRecoveryLinks(house).make({ person: id, ...more });
  const what = more.secondFactor ? `${more.purpose}, second factor` : more.purpose;
  await house.recorder.record({ kind: 'link.made', person: id, what });
  return {
    id,
    name,
    link: `${house.config.issuer}${LINK_PATH}${secret}`,
    expires_at: Math.floor(house.clock.now() / 1000) + LINK_LIFE,
    ...(more.secondFactor && { removes_second_factor: true as const }),
  };
}

/**
 * Queues the message of a link, which the authorization server makes and sends. Throws `Conflict` for a disabled
 * person.
 */
export async function mailPasswordLink(
  house: House,
  person: PersonRecord,
  kind: LinkKind,
  to: string,
) {
  checkEnabled(person);
  // If a message of this kind already waits, no other is queued, and no event is recorded.
  const event = { kind: 'link.made', person: person.id, what: kind } as const;
  const outbox = house.recorder.changing('outbox', event);
  const stores = { ...house.stores, outbox };
  await notify({ ...house, stores }, person.id, kind, 'en', { to });
  return { id: person.id, name: person.name, mailed_to: to };
}

/** Throws `InputError` if a link is to be mailed but no mail server is configured. */
export function checkMail(mail: boolean, config: Config): void {
  if (mail && config.mail === undefined) {
    throw new InputError(['mail'], said('mail-not-set'));
  }
}

function checkEnabled({ name, disabled }: PersonRecord): void {
  if (disabled) throw new Conflict(said('disabled', { name }));
}
