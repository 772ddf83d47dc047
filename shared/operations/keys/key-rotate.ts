import * as z from 'zod';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { Conflict, type House, Missing, operation } from '../operation.ts';
import { overlap } from '../overlap.ts';
import { keyId } from './key-id.ts';
import { addApiKey, expires, expiresAt, newKeySchema } from './new-key.ts';
import { said } from '#shared/refusals/operations.ts';

export const rotateApiKey = operation({
  name: 'key rotate',
  summary:
    'replace an API key, and print the new key only this once; the old key works for a while',
  effect: 'changes',
  input: z.strictObject({
    id: keyId,
    overlap: overlap('key'),
    expires: expires('as long as the old one was made for'),
  }),
  operands: ['id'],
  output: newKeySchema,
  run: (input, house) =>
    house.stores.together((stores) =>
      rotate(input, { ...house, stores, recorder: house.recorder.of(stores) }),
    ),
});

interface Rotation {
  readonly id: string;
  readonly overlap: number;
  readonly expires?: number;
}

/** The new key is added first. If the store has no transactions, a crash then leaves one key too many, never none. */
async function rotate({ id, overlap: seconds, expires: days }: Rotation, house: House) {
  const { apiKeys } = house.stores;
  const now = house.clock.now();
  const old = await apiKeys.get(id);
  if (old === undefined) throw new Missing(said('no-key', { id }));
  const { application, realm, scopes, demo } = old;
  const expires_at = expiresAt(days, house) ?? sameLife(old, now);
  const members = {
    application,
    realm,
    scopes,
    ...(expires_at !== undefined && { expires_at }),
    ...(demo && { demo }),
  };
  const key = await addApiKey(house, members, 'api-key.rotated');
  if (!(await apiKeys.expire(id, now + 1000 * seconds))) {
    await apiKeys.remove(key.id);
    throw new Conflict(said('key-removed', { id }));
  }
  return key;
}

/**
 * Returns the end of a new key with the same life as the old key. A rotation shortens the old key, which may be rotated
 * again meanwhile, such as by an operator who lost the new key.
 */
function sameLife(old: ApiKeyRecord, now: number): number | undefined {
  const end = old.planned ? old.planned.at : old.expires_at;
  return end === undefined ? undefined : now + end - old.created_at;
}
