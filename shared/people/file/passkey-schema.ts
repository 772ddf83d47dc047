import * as z from 'zod';
import { LONGEST_PASSKEY_ID } from '#shared/stores/credentials/passkeys.ts';
import { id, octets, time } from './person-schema.ts';
import { visibleName } from './public-key-schema.ts';

/** Longest public key, in octets: one of RSA with 8,192 bits has some thousand. */
const LONGEST_KEY = 2_048;

/** The counter of a signature has 32 bits (WebAuthn section 6.1). */
const MOST_COUNTER = 2 ** 32 - 1;

/** A passkey as `formatDirectoryFile` writes it. */
export const passkey = z.strictObject({
  id: octets(LONGEST_PASSKEY_ID),
  accountId: id,
  publicKey: octets(LONGEST_KEY),
  rpId: z.string().regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in lower case'),
  counter: z.int().min(0).max(MOST_COUNTER),
  backupEligible: z.boolean(),
  backedUp: z.boolean(),
  name: visibleName,
  created_at: time,
  used_at: time.exactOptional(),
  refused_at: time.exactOptional(),
});
