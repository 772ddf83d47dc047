import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { andThen } from '#shared/base/awaitable.ts';
import type { SpaceConfig } from '#shared/config/schema.ts';
import type { Jwk } from '#shared/keys/signing-key-lifecycle.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';

export interface SignedToken {
  readonly kid: string;
  /** The JWT in Compact Serialization (RFC 7515 section 7.1). */
  readonly jwt: string;
}

type Sign = (input: Buffer, key: KeyObject) => Awaitable<Buffer>;

const inThreadPool = promisify(sign);

/** RS256 takes so long that it belongs in the thread pool. There, ES256 would cost three times as much. */
const SIGN: Readonly<Record<SpaceConfig['alg'], Sign>> = {
  ES256: (input, key) => sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }),
  RS256: (input, key) => inThreadPool('sha256', input, key),
  EdDSA: (input, key) => sign(undefined, input, key),
};

/** Signs claims as a JWT of the given type with the current signing key. Throws if there is none. */
export function signedToken(
  keys: KeySet,
  alg: SpaceConfig['alg'],
  typ: string,
  claims: object,
): Awaitable<SignedToken> {
  const kid = keys.signingKid(alg);
  const jwk = keys.jwks.find((one) => one['kid'] === kid);
  if (kid === undefined || jwk === undefined) throw new Error(`no key signs with ${alg}`);
  const input = `${encoded({ alg, typ, kid })}.${encoded(claims)}`;
  return andThen(SIGN[alg](Buffer.from(input), privateKeyOf(jwk)), (signature) => ({
    kid,
    jwt: `${input}.${signature.toString('base64url')}`,
  }));
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

const imported = new WeakMap<Jwk, KeyObject>();

/** Importing a key costs more than signing with it. */
function privateKeyOf(jwk: Jwk): KeyObject {
  const key = imported.get(jwk) ?? createPrivateKey({ key: jwk, format: 'jwk' });
  imported.set(jwk, key);
  return key;
}
