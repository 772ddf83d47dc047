import { generateKeyPairSync } from 'node:crypto';
import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import type { OAuthSpace } from '#shared/auth/schemes/parts/oauth.ts';
import type { IssuerKeys } from '#shared/auth/tokens/issuer-keys.ts';
import { createTokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { PLAYGROUND_BELOW } from '#shared/config/playground.ts';
import { signEs256 } from '#shared/jose/sign-jws.ts';
import type { Issue } from './exchange.ts';
import { PERSON } from './person.ts';
import { grantUntil } from './push.ts';

/** Seconds. */
const LIFETIME = 60;

/** The client id in the playground's tokens, which is registered nowhere. */
const CLIENT = '(playground)';

export interface IssuerParts extends Pick<
  SchemeParts,
  'stores' | 'feed' | 'clock' | 'random' | 'master'
> {
  /** The origin of the resource server. */
  readonly resource: string;
  /** Seconds by which clocks may differ. */
  readonly skew: number;
}

/**
 * An issuer of access tokens (RFC 9068) for the playground's spaces only. Its key exists only in this process, and only
 * these spaces trust it. The spaces announce no metadata, since no authorization server exists to which a client could
 * go.
 */
export function playgroundIssuer({ resource, skew, ...parts }: IssuerParts): {
  readonly schemes: Pick<SchemeParts, 'oauth' | 'tokens'>;
  readonly issue: Issue;
  /** The value of `iss` in its tokens. */
  readonly issuer: string;
  readonly keys: IssuerKeys;
} {
  const { stores, feed, clock, random, master } = parts;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = randomId(random);
  const issuer = `${resource}${PLAYGROUND_BELOW}issuer`;
  const keys: IssuerKeys = {
    key: (kid, { fits }) => (kid === own && fits(publicKey) ? publicKey : undefined),
  };
  const tokens = createTokenVerifier({ issuer, keys, feed, clock, skew });
  const { bearer, dpop } = oauthSchemes({ tokens, proofs: stores.proofs, master, clock });
  return {
    issuer,
    keys,
    schemes: {
      tokens,
      oauth: {
        bearer: (space) => bearer(withoutMetadata(space)),
        dpop: (space) => dpop({ ...withoutMetadata(space), nonce: space.nonce }),
      },
    },
    async issue({ audience, scope, cnf, person, age = 0 }) {
      const { epoch } = await feed.latest();
      const iat = epochSeconds(clock) - age;
      return signEs256(
        { typ: cnf && !('jkt' in cnf) ? 'gnap-at+jwt' : 'at+jwt', kid: own },
        {
          iss: issuer,
          aud: audience,
          sub: person ? PERSON.id : CLIENT,
          client_id: CLIENT,
          jti: randomId(random),
          iat,
          exp: iat + LIFETIME,
          scope,
          ...(person && { sub_gen: 0, grant_id: grantUntil(iat + LIFETIME) }),
          client_gen: 0,
          epoch,
          ...(cnf && { cnf }),
        },
        privateKey,
      );
    },
  };
}

/** A space that announces no metadata. */
export const withoutMetadata = ({ realm, audiences, scopes }: OAuthSpace): OAuthSpace => ({
  realm,
  audiences,
  scopes,
});
