import { admittedBy } from '#shared/config/production.ts';
import { administratorNow } from '#shared/people/administrator-now.ts';
import {
  createRegistrationLinks,
  FIRST_ADMINISTRATOR,
  REGISTRATION_PATH,
} from '#shared/people/registration.ts';
import { said } from '#shared/refusals/operations.ts';
import { Conflict, type House } from '../operation.ts';

/** A link with which the first administrator makes their account. */
export interface AdministratorLink {
  readonly link: string;
  /** Seconds since the epoch. */
  readonly expires_at: number;
}

/**
 * Makes the link of the first administrator, in place of a former one. Throws `Conflict` if an administrator can sign in. No
 * view offers it over HTTP: an administrator would ask there, and then there is one.
 */
export async function makeAdministratorLink(
  house: Pick<House, 'config' | 'stores' | 'random' | 'clock' | 'recorder'>,
): Promise<AdministratorLink> {
  const { config, stores, clock } = house;
  const there = await administratorNow(stores, admittedBy(config));
  if (there !== undefined) throw new Conflict(said('administrator-there', { name: there.name }));
  const { id, secret, life } = await createRegistrationLinks(house).makeFirst();
  await house.recorder.record({ kind: 'link.made', person: id, what: FIRST_ADMINISTRATOR });
  return {
    link: `${config.issuer}${REGISTRATION_PATH}${secret}`,
    expires_at: Math.floor(clock.now() / 1000) + life,
  };
}
