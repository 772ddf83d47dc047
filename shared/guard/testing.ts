import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import { checkOptions } from './check-options.ts';
import { createGuard } from './create-guard.ts';
import type { Guard } from './guard.ts';
import type { ProtectOptions } from './options.ts';

export interface TestIssuerOptions {
  /** The API, as in the options of `protect`, and the audience of all tokens. */
  readonly resource: string;
  /** Default: `https://auth.example`. */
  readonly issuer?: string;
  /** Milliseconds since the epoch at which the clock starts; default: now. */
  readonly now?: number;
}

/** The claims of a test token. Each has its own `jti`. */
export interface TestToken {
  /** Id of the person; absent: an application acts on its own behalf. */
  readonly person?: string;
  /** `client_id`; default: `app`. */
  readonly client?: string;
  readonly scopes?: readonly string[];
  /** How and when the person signed in; default: with a password, now. `at`: seconds since the epoch. */
  readonly signedIn?: { readonly acr?: SignInLevel; readonly at?: number };
  /** Seconds; default: 600. */
  readonly lifetime?: number;
  /** Further claims, such as `groups`; they replace those of the other members. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The ways to sign in, weakest first. */
export type SignInLevel = 'password' | 'second-factor' | 'passkey';

/** A key that tokens are bound to (RFC 9449). */
export interface TestKey {
  token(of?: TestToken): string;
  /** Returns the fields of a request, with a proof that is accepted once; `nonce`: the last answer's `DPoP-Nonce`. */
  headers(
    token: string,
    request: { readonly method: string; readonly url: string; readonly nonce?: string },
  ): { readonly authorization: string; readonly dpop: string };
}

/** An authorization server for unit tests, with keys, tokens, a clock and revocations in this process only. */
export interface TestIssuer {
  readonly issuer: string;
  /** Like `protect`, for this issuer: it needs no network, and revocations apply at once. */
  protect(
    options: Omit<ProtectOptions, 'issuer' | 'issuerUrl' | 'resource' | 'client' | 'revocation'>,
  ): Guard;
  /** Returns a Bearer token (RFC 9068), valid from this moment of the clock. */
  token(of?: TestToken): string;
  /** Makes a new key for tokens that are bound to it. */
  key(): TestKey;
  /** Advances the clock of guards and tokens. */
  advance(seconds: number): void;
  /** Revokes a token from now on. */
  revoke(token: string): void;
  /** Revokes all tokens that a person or an application has so far. */
  end(of: { readonly person: string } | { readonly client: string }): void;
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

function newKey(): { readonly privateKey: KeyObject; readonly jwk: Record<string, string> } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { crv = '', kty = '', x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return { privateKey, jwk: { crv, kty, x, y } };
}

/** Signs with ES256 (RFC 7518 section 3.4). */
function jws(header: object, payload: object, key: KeyObject): string {
  const input = `${base64url({ alg: 'ES256', ...header })}.${base64url(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

const payloadOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string };

/**
 * An authorization server for unit tests. Needs no network; throws as `protect` does.
 *
 * @example
 * const auth = testIssuer({ resource: 'https://api.example/' });
 * const guard = auth.protect({ scopes: ['notes:read'] });
 * const token = auth.token({ person: 'alice', scopes: ['notes:read'], claims: { groups: ['Staff'] } });
 */
export function testIssuer(options: TestIssuerOptions): TestIssuer {
  const { resource, issuer = 'https://auth.example', now = Date.now() } = options;
  const clock = new ManualClock(now);
  const seconds = () => Math.floor(clock.now() / 1000);
  const { privateKey, jwk } = newKey();
  const epoch = randomUUID();
  const revoked = new RevocationSet();
  revoked.epoch = epoch;
  const generations = { person: new Map<string, number>(), client: new Map<string, number>() };
  const generation = (kind: 'person' | 'client', id: string) => generations[kind].get(id) ?? 0;

  function token(of: TestToken = {}, bound: object = {}): string {
    const { person, client = 'app', scopes = [], lifetime = 600, claims } = of;
    const { acr = 'password', at = seconds() } = of.signedIn ?? {};
    const ofPerson = {
      sub_gen: generation('person', person ?? ''),
      acr: `urn:countersign:acr:${acr}`,
      auth_time: at,
    };
    const payload = {
      iss: issuer,
      aud: resource,
      sub: person ?? client,
      client_id: client,
      jti: randomUUID(),
      iat: seconds(),
      exp: seconds() + lifetime,
      scope: scopes.join(' '),
      client_gen: generation('client', client),
      ...(person !== undefined && ofPerson),
      epoch,
      ...bound,
      ...claims,
    };
    return jws({ typ: 'at+jwt', kid: 'test' }, payload, privateKey);
  }

  function key(): TestKey {
    const own = newKey();
    // RFC 7638 section 3: the members are in lexicographic order.
    const cnf = { jkt: sha256(JSON.stringify(own.jwk)) };
    return {
      token: (of) => token(of, { cnf }),
      headers(bound, { method, url, nonce }) {
        const { origin, pathname } = new URL(url);
        const proof = {
          jti: randomUUID(),
          htm: method,
          htu: origin + pathname,
          iat: seconds(),
          ath: sha256(bound),
          ...(nonce !== undefined && { nonce }),
        };
        const dpop = jws({ typ: 'dpop+jwt', jwk: own.jwk }, proof, own.privateKey);
        return { authorization: `DPoP ${bound}`, dpop };
      },
    };
  }

  return {
    issuer,
    protect(rest) {
      const all = { ...rest, issuer, resource };
      checkOptions(all);
      return createGuard(all, {
        clock,
        random: systemRandom,
        fetch: async () => Response.json({ keys: [{ ...jwk, kid: 'test', alg: 'ES256' }] }),
        several: undefined,
        log: { info: () => {}, warn: () => {}, error: console.error },
        feed: {
          latest: () => revoked,
          onKeyRevoked: () => {},
          [Symbol.asyncDispose]: async () => {},
        },
      });
    },
    token: (of) => token(of),
    key,
    advance: (by) => clock.advance(by),
    revoke: (one) => revoked.apply({ kind: 'token', id: payloadOf(one).jti }, Infinity),
    end(of) {
      const [kind, id] =
        'person' in of ? (['person', of.person] as const) : (['client', of.client] as const);
      const next = generation(kind, id) + 1;
      generations[kind].set(id, next);
      revoked.apply({ kind, id, generation: next }, Infinity);
    },
  };
}
