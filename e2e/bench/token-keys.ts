import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { listTokenKeys, openTokenKey } from '#shared/keys/token-key-lifecycle.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Pair } from '../pair/pair.ts';

/** The keys that the pair's token issuer issues with now, private parts and all, from its store. */
export async function issuingKeys(pair: Pair): Promise<readonly TokenKeyPair[]> {
  const config = await loadConfig(pair.env);
  const { privateTokens: times } = config;
  if (times === undefined) throw new Error('the pair issues no tokens');
  const master = await readMasterSecret(config, pair.env);
  const clock = systemClock;
  const life = longestLife(config);
  const dependencies = { clock, random: systemRandom, log: silentLog, longestLife: life };
  await using stores = await openStores(config, dependencies);
  const listed = await listTokenKeys({ stores, clock, times });
  return listed
    .filter(({ state }) => state === 'issuing')
    .map(({ key }) => ({
      type: key.type,
      id: Buffer.from(key.id, 'base64url'),
      publicKey: Buffer.from(key.publicKey, 'base64url'),
      privateKey: openTokenKey(master, key),
    }));
}
