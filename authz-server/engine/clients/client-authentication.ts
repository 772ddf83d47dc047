import { hash } from 'node:crypto';
import { errors } from 'oidc-provider';
import type { Client, Configuration, Provider } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { FormerSecret } from '#shared/stores/oauth/clients.ts';
import { isFapi, isFapiAlg } from '../../base/fapi.ts';
import { ASSERTION_SECONDS } from './replay.ts';
import { OF_THE_FUTURE } from '../../base/engine-causes.ts';
import type { AuthzServer } from '../../base/server.ts';

/** A hash for comparison if the client has no former secret. */
const NONE: FormerSecret = { hash: '-'.repeat(43), from: 0, until: 0 };

/**
 * Compares hashes, since secrets are stored hashed. The comparison takes constant time, like the engine's. A former
 * secret is always compared, so that the time does not show whether the client has one. It is valid only from the time
 * of its replacement, so a clock that was set back makes no older secret valid.
 */
export function useHashedSecrets(
  provider: Provider,
  { clock, config }: Pick<AuthzServer, 'clock' | 'config'>,
): void {
  const client = provider.Client.prototype;
  client.compareClientSecret = function compareClientSecret(this: Client, secret: string) {
    const given = hash('sha256', secret, 'base64url');
    const former = (this['former_secret'] as FormerSecret | undefined) ?? NONE;
    const now = clock.now();
    const lives = now < former.until && now >= former.from - config.tokens.skew * 1000;
    const isFormer = sameText(given, former.hash) && lives;
    return sameText(given, this.clientSecret ?? '') || isFormer;
  };
}

/**
 * The types of a client assertion: explicit typing (draft-ietf-oauth-rfc7523bis section 4), or no type, as older
 * clients send it.
 */
const TYPES = new Set([undefined, 'jwt', 'client-authentication+jwt']);

/**
 * How many seconds the clock of a client may be wrong, for its assertions: `tokens.skew`, and at least the ten seconds in
 * the future that the FAPI 2.0 Security Profile demands (section 5.3.2.1).
 */
export const assertionSkew = ({ tokens }: AuthzServer['config']): number =>
  Math.max(tokens.skew, 10);

/**
 * Checks a client assertion beyond the engine's checks (RFC 7523 section 3, draft-ietf-oauth-rfc7523bis section 4): its
 * only audience is this server, it is valid at this time, and it expires before the store forgets it, since it could be
 * used again otherwise. The FAPI 2.0 Security Profile also allows no RS256 (section 5.4.1), and no audience but the issuer
 * as a string (section 5.3.2.1).
 */
export function checkAssertion({
  config,
  clock,
}: Pick<AuthzServer, 'config' | 'clock'>): NonNullable<
  Configuration['assertJwtClientAuthClaimsAndHeader']
> {
  const { issuer, tokens } = config;
  return (_ctx, { aud, exp, iat }, { typ, alg }, client) => {
    const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
    if (!TYPES.has(type as string | undefined)) refuse('the type is that of another JWT');
    const audiences = [aud].flat();
    if (audiences.length !== 1) refuse('there is more than one audience');
    if ((tokens.assertionAudience === 'issuer' || isFapi(client)) && aud !== issuer) {
      refuse('the audience is not the issuer, as a string; see tokens.assertionAudience');
    }
    if (isFapi(client) && !isFapiAlg(alg)) refuse('FAPI 2.0 allows no such algorithm');
    const now = epochSeconds(clock);
    if (typeof iat === 'number' && iat > now + assertionSkew(config)) {
      throw new errors.InvalidClientAuth(OF_THE_FUTURE);
    }
    if (typeof exp !== 'number' || exp > now + ASSERTION_SECONDS - 60) refuse('it lives too long');
  };
}

function refuse(reason: string): never {
  throw new errors.InvalidClientAuth(`client assertion: ${reason}`);
}
