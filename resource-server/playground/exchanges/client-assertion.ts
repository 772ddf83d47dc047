import type { KeyObject } from 'node:crypto';
import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { signEd25519 } from '#shared/jose/sign-jws.ts';
import type { Performing } from '../exchange.ts';
import { CLIENT } from '../browser.ts';

/** The type of a client assertion (RFC 7523 section 2.2). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Seconds. */
const LIFETIME = 60;

/** Makes the assertion by which the playground's client authenticates (RFC 7523 section 3). */
export function clientAssertion(
  {
    issuer,
    clientKey,
    clock,
    random,
  }: Pick<Performing, 'issuer' | 'clientKey' | 'clock' | 'random'>,
  { key = clientKey, audience = issuer }: { readonly key?: KeyObject; readonly audience?: string },
): string {
  const iat = epochSeconds(clock);
  return signEd25519(
    { typ: 'client-authentication+jwt' },
    {
      iss: CLIENT,
      sub: CLIENT,
      aud: audience,
      jti: randomId(random),
      iat,
      exp: iat + LIFETIME,
    },
    key,
  );
}
