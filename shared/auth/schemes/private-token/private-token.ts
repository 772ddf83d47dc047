import { createHmac } from 'node:crypto';
import { sameBytes } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { turnAt } from '#shared/http/turn.ts';
import { CLOCK_MARGIN } from '#shared/stores/revocation/lifetime.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import type { Token } from '#shared/private-token/token.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import type { SpentTokens } from '#shared/stores/authentication/spent-tokens.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { KeysUnavailable } from '../../tokens/issuer-keys.ts';
import type { AuthRequest, Grounds, Scheme, Verdict } from '../../scheme.ts';
import {
  createChallenges,
  type Moment,
  type SpaceChallenge,
  type ChallengedSpace,
} from './challenges.ts';
import { readToken } from './read-token.ts';
import type { IssuerKey, TrustedIssuer } from '../parts/token-issuer.ts';

export interface PrivateTokenOptions {
  readonly space: ChallengedSpace;
  readonly issuer: TrustedIssuer;
  readonly spent: SpentTokens;
  readonly limits: Pick<Limits, 'spend'>;
  /** The rate at which tokens from one address, or one IPv6 network, are verified. */
  readonly rate: Rate;
  /** The secret from which challenge contexts are made; it has no other use, and all processes share it. */
  readonly windowSecret: Buffer;
  /**
   * The secret that hides addresses in names of limits: a reader of the store does not learn who redeemed a token
   * when.
   */
  readonly addressSecret: Buffer;
  /** Returns the identity of the store's memory of spent tokens; undefined if the store has none yet. */
  readonly memory: () => Promise<string | undefined>;
  readonly clock: Clock;
}

/** A used token and a token that was never valid get the same answer, so that a client cannot distinguish them. */
const refused = (refusal: Refusal): Verdict => ({ kind: 'refused', ...refusal, untold: true });

/**
 * Returns the time in milliseconds since the epoch from which no token of the key for the challenge is accepted;
 * Infinity if unknown.
 */
const endOf = (challenge: SpaceChallenge, key: IssuerKey) =>
  Math.min(challenge.ends, key.until ?? Infinity);

/**
 * Returns the name of a spent token. It contains type and key besides the nonce, since tokens of two keys may have
 * the same nonce.
 */
const nameOf = ({ type, keyId, nonce }: Token) => Buffer.concat([Buffer.of(0, type), keyId, nonce]);

/**
 * Makes the scheme PrivateToken (RFC 9577): a token that an issuer signed without seeing it, which is accepted once
 * and names no person. The log's reasons are a few fixed texts, so that they do not distinguish tokens.
 */
export function privateToken(options: PrivateTokenOptions): Scheme {
  const { space, issuer, spent, limits, rate, windowSecret, addressSecret, clock } = options;
  const challenges = createChallenges(space, issuer.name, windowSecret);

  /** A token without a known end is refused, since it could not be remembered for long enough. */
  const passesUntil = (end: number) => end !== Infinity && clock.now() < end;

  /** Without a window the challenges do not depend on the store's memory. */
  async function moment(): Promise<Moment> {
    const memory = space.window === undefined ? '' : await options.memory();
    if (memory === undefined) throw new KeysUnavailable(1);
    return { now: clock.now(), memory };
  }

  async function challengeOf(token: Token): Promise<SpaceChallenge | undefined> {
    return challenges
      .accepted(token.type, await moment())
      .find(({ digest }) => sameBytes(digest, token.challengeDigest));
  }

  /** RFC 9577 section 2.1.2: returns no challenge if the issuer has no key whose tokens can be accepted. */
  async function offer(type: TokenType): Promise<Challenge[]> {
    const keys = await issuer.keys(type);
    const at = await moment();
    const challenge = challenges.offered(type, at);
    const key = keys.find((one) => passesUntil(endOf(challenge, one)));
    if (key === undefined) return [];
    const params = {
      challenge: encodePadded(challenge.bytes),
      'token-key': encodePadded(key.publicKey),
      'max-age': String(Math.floor((endOf(challenge, key) - at.now) / 1000)),
    };
    return [{ scheme: 'PrivateToken', params }];
  }

  const customer = (address: string) =>
    createHmac('sha256', addressSecret).update(customerOf(address)).digest('base64url');

  /**
   * RFC 9577 section 2.2: cheap checks come first. The token is spent last; otherwise an attacker could spend other
   * clients' tokens.
   */
  async function redeem(
    token: Token,
    { peer: { address }, client }: Pick<AuthRequest, 'peer' | 'client'>,
  ): Promise<Verdict> {
    const challenge = await challengeOf(token);
    if (challenge === undefined) return refused(refuse('private-token-challenge'));
    const key = await issuer.key(token.type, token.keyId);
    if (key === undefined) return refused(refuse('private-token-key'));
    const end = endOf(challenge, key);
    if (!passesUntil(end)) return refused(refuse('private-token-old-key'));
    const paid = await limits.spend('redemption', customer(address), rate);
    if (!paid.ok) {
      const { retryAfter } = paid;
      return { kind: 'unavailable', status: 429, ...refuse('private-token-rate'), retryAfter };
    }
    if (!(await issuer.verify(token, key, turnAt(address, client))))
      return refused(refuse('private-token-authenticator'));
    // The verification took time, and the store does not remember a token after its end.
    if (!passesUntil(end)) return refused(refuse('private-token-ended'));
    const first = await spent.spend(nameOf(token), end + CLOCK_MARGIN);
    if (!first) return refused(refuse('private-token-used'));
    // A store that was restored meanwhile has forgotten the spent tokens: then the key or the context is unknown.
    const remembered = (await issuer.key(token.type, token.keyId)) && (await challengeOf(token));
    if (remembered === undefined) return refused(refuse('private-token-forgotten'));
    return { kind: 'granted', principal: { kind: 'anonymous' }, grounds: groundsOf(key) };
  }

  /**
   * The verdict stays valid until the operator revokes the issuer's key. The spent token is stored without its owner.
   */
  const groundsOf = ({ type, id, until = Infinity }: IssuerKey): Grounds => ({
    of: `key of PrivateToken ${Buffer.from(id).toString('base64url')}`,
    async end() {
      if (await issuer.key(type, id)) return undefined;
      return clock.now() < until ? 'revoked' : 'expired';
    },
  });

  return {
    name: 'PrivateToken',
    alone: true,

    async challenge({ confidential }) {
      if (!confidential) return [];
      const offers = await Promise.all(space.types.map(offer));
      const offered = offers.flat();
      if (offered.length === 0) throw new Error('the issuer has no key that is of use here');
      return offered;
    },

    needs: ({ confidential }) =>
      confidential ? undefined : 'PrivateToken is not taken in clear text: use https.',

    async authenticate({ params }, request) {
      if (!request.confidential) return refused(refuse('private-token-clear-text'));
      const token = readToken(params?.['token'], space.types);
      if ('refusal' in token) return refused(token);
      return redeem(token, request).catch((error: unknown): Verdict => {
        if (!(error instanceof KeysUnavailable)) throw error;
        const { message, retryAfter } = error;
        return {
          kind: 'unavailable',
          status: 503,
          ...refuseSpace('unavailable', { why: message }),
          retryAfter,
        };
      });
    },
  };
}
