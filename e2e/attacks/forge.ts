import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import type { Jwk } from '#shared/keys/signing-key-lifecycle.ts';
import { signJws } from '#shared/jose/jws.fixture.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Pair } from '../pair/pair.ts';

type Members = Readonly<Record<string, unknown>>;

/** Makes forged tokens: each is signed with the authorization server's own key and wrong in one thing. */
export interface Forger {
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as the JWKS publishes it. */
  readonly publicJwk: Jwk;
  /** Header and claims of a genuine token. */
  readonly header: Members;
  readonly claims: Members;
  /** Makes a token like the genuine one, with these members replaced; undefined removes a member. */
  token(claims?: Members, header?: Members, key?: KeyObject): string;
}

/** Reads the private key of a genuine token from the pair's store, as a thief of the data folder could. */
export async function createForger(pair: Pair, genuine: string): Promise<Forger> {
  const config = await loadConfig(pair.env);
  const master = await readMasterSecret(config, pair.env);
  await using stores = await openStores(config, {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  const header: Members = { ...decodeProtectedHeader(genuine) };
  const claims: Members = { ...decodeJwt(genuine) };
  const stored = (await stores.keys.list()).find(({ kid }) => kid === header['kid']);
  if (stored === undefined) throw new Error('the key of the token is not in the store');
  const key = createPrivateKey({
    key: { ...privateJwk({ master, table: 'keys' }, stored) },
    format: 'jwk',
  });
  return {
    key,
    publicKey: createPublicKey(key),
    publicJwk: stored.publicJwk,
    header,
    claims,
    token: (otherClaims, otherHeader, otherKey = key) =>
      signJws(
        { ...header, ...otherHeader },
        { ...claims, jti: randomUUID(), ...otherClaims },
        otherKey,
      ),
  };
}
