import * as z from 'zod';
import { isVisibleName } from '#shared/people/names/visible-name.ts';
import { PublicKeyError, readPublicKey } from '#shared/people/public-key.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { InputError } from './operation.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** Most characters of a key: RSA with 8192 bits, in PEM or as a JWK. */
const LONGEST = 8192;

export const publicKey = z
  .string()
  .max(LONGEST, fault(said('too-long', { most: LONGEST })))
  .describe('the public key, in PEM or as a JWK');

export const keyName = z
  .string()
  .refine(isVisibleName, fault(said('visible-name')))
  .describe('the name of the key for people, such as that of its device');

/** Reads the member `public_key`. Throws `InputError`. */
export function readKey(text: string, scheme: PublicKeyRecord['scheme']) {
  try {
    return readPublicKey(Buffer.from(text), scheme);
  } catch (error) {
    if (error instanceof PublicKeyError) throw new InputError(['public_key'], error.words);
    throw error;
  }
}
