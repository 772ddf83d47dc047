import * as z from 'zod';
import { newApiKey } from '#shared/people/api-key.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { Conflict, type House } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { wholeNumber } from '../whole-number.ts';
import { said } from '#shared/refusals/operations.ts';

/** Milliseconds. */
const DAY = 86_400_000;

/** The days after which a key ends. */
export const expires = (otherwise: string) =>
  wholeNumber(1, 3650)
    .exactOptional()
    .describe(`days until the key expires, at most 3650; default: ${otherwise}`)
    .register(SPELLINGS, { value: 'DAYS' });

/** Returns the end in milliseconds since the epoch, if one was given. */
export const expiresAt = (days: number | undefined, { clock }: Pick<House, 'clock'>) =>
  days === undefined ? undefined : clock.now() + days * DAY;

/** A newly created API key. */
export const newKeySchema = z.strictObject({
  id: z.string(),
  key: z.string().describe('shown only this once'),
  application: z.string(),
  realm: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.number().exactOptional().describe('milliseconds since the epoch'),
  demo: z.boolean().exactOptional(),
});

/** Creates a key, of which only the hash is stored: the result must be shown now. */
export async function addApiKey(
  { recorder, random, clock }: House,
  members: Pick<ApiKeyRecord, 'application' | 'realm' | 'scopes' | 'expires_at' | 'demo'>,
  kind: 'api-key.added' | 'api-key.rotated' = 'api-key.added',
) {
  const { id, key, secret_hash } = newApiKey(random);
  const record = { id, ...members, secret_hash, created_at: clock.now() };
  const apiKeys = recorder.changing('apiKeys', { kind, key: id });
  if (!(await apiKeys.add(record))) throw new Conflict(said('identifier-taken'));
  return { id, key, ...members };
}
