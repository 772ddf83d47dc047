import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import type { Person } from '../directory.ts';
import { isEnough, type SecondFactorRule } from './need.ts';

/**
 * Returns whether a key admits its person, who may need a second factor. It does if it was added with a second
 * factor, or if the person kept the key when they set up theirs: that page lists all their keys.
 */
export async function isKeyEnough(
  rule: SecondFactorRule,
  secondFactors: Pick<SecondFactors, 'get'>,
  { id, profile }: Person,
  { acr, created_at }: Pick<PublicKeyRecord, 'acr' | 'created_at'>,
): Promise<boolean> {
  if (isEnough(rule, profile?.groups, acr)) return true;
  const factor = await secondFactors.get(id);
  return factor !== undefined && created_at <= factor.created_at;
}
