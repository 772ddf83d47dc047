import * as z from 'zod';
import { id, octets, time } from './person-schema.ts';

/** Longest sealed secret, in octets. */
const LONGEST_SEALED = 256;

/** Octets of a MAC with SHA-256. */
const MAC = 32;

const MOST_CODES = 10;

/** A second factor as `formatDirectoryFile` writes it. */
export const secondFactor = z.strictObject({
  accountId: id,
  id,
  sealed: octets(LONGEST_SEALED),
  step: z.int().min(0),
  recovery: z.array(octets(MAC)).max(MOST_CODES),
  created_at: time,
  used_at: time.exactOptional(),
});
