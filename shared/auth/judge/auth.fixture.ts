import { createHash, type KeyObject } from 'node:crypto';
import { ManualClock } from '#shared/base/clock.ts';
import { parseCookies } from '#shared/http/cookies.ts';
import { lines, single } from '#shared/http/fields.ts';
import { GENERATE, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { type Proofs, proofsOver } from '#shared/stores/authentication/proofs.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { KeysUnavailable } from '../tokens/issuer-keys.ts';
import { ORIGIN, type AuthRequest } from '../scheme.ts';
import type { OAuthSpace } from '../schemes/parts/oauth.ts';
import { createTokenVerifier } from '../tokens/token-verifier.ts';

export const ISSUER = 'https://as.example';
export const SPACE: OAuthSpace = {
  realm: 'documents',
  audiences: ['https://rs.example/documents/'],
  metadata: 'https://rs.example/.well-known/oauth-protected-resource/documents/',
  scopes: (method) => [method === 'GET' ? 'documents:read' : 'documents:write'],
};

/** Returns a request for a resource of `SPACE`, with fields as [name, value]. */
export function requestOf(
  fields: readonly (readonly [string, string])[] = [],
  more: Partial<Omit<AuthRequest, 'field' | 'lines'>> = {},
): AuthRequest {
  const raw = fields.flat();
  return {
    at: ORIGIN,
    method: 'GET',
    target: '/documents/a',
    origin: 'https://rs.example',
    field: (name) => single(raw, name),
    lines: (name) => lines(raw, name),
    cookies: parseCookies(lines(raw, 'cookie')),
    peer: { address: '127.0.0.1', connection: {}, http2: false, trusted: false },
    confidential: true,
    ...more,
  };
}

/** Replay in memory, on a clock; `down` makes it fail. */
export function memoryReplay(clock: ManualClock): Replay & Proofs & { down: boolean } {
  const until = new Map<string, number>();
  return {
    down: false,
    async unique(namespace, key, seconds) {
      if (this.down) throw new StoreUnavailable('replay is down');
      const name = `${namespace} ${key}`;
      if ((until.get(name) ?? 0) > clock.now()) return false;
      until.set(name, clock.now() + seconds * 1000);
      return true;
    },
    spend(...proof) {
      return proofsOver(this).spend(...proof);
    },
    seen: async (namespace, key) => (until.get(`${namespace} ${key}`) ?? 0) > clock.now(),
  };
}

/** Creates an issuer with one key, a verifier of its tokens, and functions with which a test changes either. */
export function issuerAndVerifier(clock = new ManualClock()) {
  const now = () => Math.floor(clock.now() / 1000);
  const published = new Map<string, KeyObject>();
  const revocations = new RevocationSet();
  revocations.epoch = 'e1';
  const keyListeners: ((kid: string) => void)[] = [];
  const state = { feedDown: false, keysDown: false, keysAsked: 0, newEpochs: 0 };
  const feed = {
    latest() {
      if (state.feedDown) throw new StoreUnavailable('the feed is silent');
      return revocations;
    },
    onKeyRevoked: (listener: (kid: string) => void) => void keyListeners.push(listener),
  };
  const tokens = createTokenVerifier({
    issuer: ISSUER,
    keys: {
      key(kid) {
        state.keysAsked += 1;
        if (state.keysDown) throw new KeysUnavailable(1);
        return published.get(kid);
      },
    },
    clock,
    skew: 5,
    feed,
    onNewEpoch: () => void (state.newEpochs += 1),
  });
  const issuerKey = GENERATE.ES256();
  published.set('k1', issuerKey.publicKey);

  return {
    clock,
    now,
    state,
    published,
    revocations,
    feed,
    tokens,
    revokeKey: (kid: string) => {
      revocations.apply({ kind: 'key', id: kid }, Infinity);
      for (const listener of keyListeners) listener(kid);
    },
    /** An access token of the issuer for `SPACE`. */
    token: (claims: object = {}, header: object = {}, key = issuerKey.privateKey) =>
      signJws(
        { alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header },
        {
          iss: ISSUER,
          aud: SPACE.audiences[0],
          sub: 'machine',
          client_id: 'machine',
          jti: 'j1',
          iat: now(),
          exp: now() + 600,
          scope: 'documents:read',
          client_gen: 0,
          epoch: 'e1',
          ...claims,
        },
        key,
      ),
  };
}

/** A DPoP client's key, and proofs made with it. */
export function prover(now: () => number) {
  const pair = GENERATE.ES256();
  const { kty, crv, x, y } = publicJwk(pair.publicKey);
  const canonical = JSON.stringify({ crv, kty, x, y });
  let made = 0;
  return {
    jkt: createHash('sha256').update(canonical).digest('base64url'),
    proof: (token: string, claims: object = {}) => {
      made += 1;
      return signJws(
        { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } },
        {
          jti: `proof-${made}`,
          htm: 'GET',
          htu: 'https://rs.example/documents/a',
          iat: now(),
          ath: createHash('sha256').update(token).digest('base64url'),
          ...claims,
        },
        pair.privateKey,
      );
    },
  };
}
