import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The grant types of a client by their short names (RFC 7591 section 2, RFC 8628 section 4). */
const GRANTS = {
  client_credentials: 'client_credentials',
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  device_code: DEVICE_CODE,
} as const;

const names = Object.keys(GRANTS) as (keyof typeof GRANTS)[];

/** A grant type by its short name, or by its name in the protocol. */
const grantType = z.enum([...names, DEVICE_CODE]);

/** The grant types of a registered client, each once. */
export const grantTypes = z
  .array(grantType)
  .min(1, fault(said('missing')))
  .transform((grants) => [
    ...new Set(grants.map((grant) => (grant === DEVICE_CODE ? DEVICE_CODE : GRANTS[grant]))),
  ])
  .describe(names.join(', '))
  .register(SPELLINGS, { option: 'grant', value: 'GRANT', choices: names });

/** Returns grant types in their short form, for people. */
export const shortNames = (grants: readonly string[]) =>
  grants.map((grant) => (grant === DEVICE_CODE ? 'device_code' : grant)).join(' ');

/** True if one of these grants acts for a person. */
export const ofPeople = (grants: readonly string[]) =>
  grants.includes('authorization_code') || grants.includes(DEVICE_CODE);
