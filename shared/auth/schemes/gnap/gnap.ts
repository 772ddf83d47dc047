import { hash } from 'node:crypto';
import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import { BadKey, type GnapKey, readKey } from '#shared/gnap/key.ts';
import { prove, type ProvedRequest } from '#shared/gnap/prove.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { KeyBinding } from '#shared/jose/access-token-claims.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { type Refusal, within } from '#shared/refusals/refusal.ts';
import { refuse as refuseSignature } from '#shared/refusals/signatures.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { actOf, type AuthRequest, type Scheme, type Verdict } from '../../scheme.ts';
import { audiencesOf, type TokenVerifier } from '../../tokens/token-verifier.ts';
import { authenticationParams } from '../parts/oauth.ts';

export interface GnapSpace {
  readonly url: string;
  /** Returns the scopes that a request with this method needs. */
  scopes(method: string): readonly string[];
}

export interface GnapOptions {
  readonly space: GnapSpace;
  /** The URI of the authorization server at which clients ask for access. */
  readonly grantEndpoint: string;
  /** Whether Client-Cert from a trusted proxy proves the client's certificate. */
  readonly mtls: boolean;
  readonly tokens: TokenVerifier;
  readonly replay: Pick<Replay, 'unique'>;
  readonly clock: Clock;
}

/** Returns the path and query as received, without the origin if the target is in absolute-form. */
const pathOf = (target: string) => target.replace(/^https?:\/\/[^/?]*/i, '');

/**
 * Makes the GNAP scheme (RFC 9635 section 7.2): a token bound to a key, in a request that the same key has signed. A
 * token that is bound to no key is sent as Bearer.
 */
export function gnap({ space, grantEndpoint, mtls, tokens, replay, clock }: GnapOptions): Scheme {
  const audiences = audiencesOf(space.url);

  /**
   * RFC 9635 section 9.1. Commas separate the parameters (RFC 9110 section 11.6.1), not the semicolons of the RFC's
   * example.
   */
  const challenge = (scopes: readonly string[]): Challenge => ({
    scheme: 'GNAP',
    params: {
      as_uri: grantEndpoint,
      access: accessReference(space.url, scopes),
      referrer: space.url,
    },
  });

  const ofToken = (refusal: Refusal): Verdict => ({
    kind: 'refused',
    ...within('access token', refusal),
  });

  return {
    name: 'GNAP',

    challenge: (request) => [challenge(space.scopes(actOf(request)))],

    async authenticate({ token68 }, request) {
      if (token68 === undefined) {
        return { ...ofToken(refuse('token-not-b64token')), as: 'malformed' };
      }
      const token = await tokens.verify(token68, audiences);
      if (token.kind === 'unavailable') return token;
      if (token.kind === 'refused') return ofToken(token);
      const { cnf, principal, grounds } = token;
      if (cnf === undefined) return ofToken(refuse('token-unbound'));
      if ('jkt' in cnf) return ofToken(refuse('token-of-dpop'));
      try {
        await prove(provedRequest(request, mtls), keyOf(cnf), {
          replay,
          now: epochSeconds(clock),
          // Safe requests may repeat: clients send no nonce, and two equal requests in the same second have the same
          // signature.
          once: METHODS.get(actOf(request))?.safe !== true,
        });
      } catch (error) {
        if (error instanceof BadSignature) {
          return { kind: 'refused', ...within('key proof', error.refusal) };
        }
        if (error instanceof BadKey) return ofToken(refuse('token-cnf', { why: error.words }));
        throw error;
      }
      return { kind: 'granted', principal, grounds };
    },

    insufficientScope: challenge,

    // RFC 9635 section 9.1 has no parameters for this, so the challenge has those of RFC 9470, for clients that
    // support it.
    insufficientAuthentication(needed, scopes) {
      const { scheme, params } = challenge(scopes);
      const error = 'insufficient_user_authentication';
      return { scheme, params: { ...params, error, ...authenticationParams(needed) } };
    },
  };
}

type GnapBinding = Exclude<KeyBinding, { readonly jkt: string }>;

const imported = new WeakMap<GnapBinding, GnapKey>();

/** Reads the key of a token, once while the token is remembered. Throws `BadKey`. */
function keyOf(cnf: GnapBinding): GnapKey {
  const known = imported.get(cnf);
  if (known !== undefined) return known;
  const value = 'jwk' in cnf ? cnf : { proof: 'mtls', 'cert#S256': cnf['x5t#S256'] };
  const key = readKey({ proof: 'httpsig', ...value });
  imported.set(cnf, key);
  return key;
}

/**
 * Returns the request as its client signed it. Throws `BadSignature` if its content cannot be checked: `/verify` gets
 * no content, so it accepts only methods whose content has no meaning.
 */
function provedRequest(request: AuthRequest, mtls: boolean): ProvedRequest {
  const { method, target, origin, lines, content, peer } = request;
  const path = pathOf(target);
  const message = { method, targetUri: origin + path, requestTarget: path, lines };
  if (content === undefined && METHODS.get(method)?.body !== 'none') {
    throw new BadSignature(refuseSignature('content-unseen'));
  }
  const contentDigest = content?.digest ?? ((name: string) => hash(name, '', 'buffer'));
  return { message, hasToken: true, contentDigest, fromProxy: mtls && peer.trusted };
}

/**
 * Returns a text by which a client can ask for access (RFC 9635 section 8.1): the URL of the space, with the scopes.
 * A resource server sends it in its challenge (section 9.1).
 */
const accessReference = (url: string, scopes: readonly string[]): string =>
  [url, ...scopes].join(' ');
