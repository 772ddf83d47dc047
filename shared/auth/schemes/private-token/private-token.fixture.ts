import { createPrivateKey } from 'node:crypto';
import { sameBytes } from '#shared/base/constant-time.ts';
import { afterAll, expect } from '@jest/globals';
import { type Clock, ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import {
  blindRsaPublicKey,
  blindSign,
  generateBlindRsaKey,
  verifyBlindRsa,
} from '#shared/private-token/blind-rsa.ts';
import { challengeDigest } from '#shared/private-token/token-challenge.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { type Token, tokenInput } from '#shared/private-token/token.ts';
import {
  BLIND_RSA,
  TOKEN_TYPES,
  type TokenType,
  VOPRF,
} from '#shared/private-token/token-types.ts';
import { blindVoprf } from '#shared/private-token/voprf-client.ts';
import { blindEvaluate, evaluate } from '#shared/private-token/voprf.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import type { SpentTokens } from '#shared/stores/authentication/spent-tokens.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { KeysUnavailable } from '../../tokens/issuer-keys.ts';
import type { Verdict } from '../../scheme.ts';
import type { ChallengedSpace } from './challenges.ts';
import type { IssuerKey, TrustedIssuer } from '../parts/token-issuer.ts';
import { privateToken } from './private-token.ts';

const SPACE_URL = 'https://rs.example/tokens/';
export const TYPES: readonly TokenType[] = [BLIND_RSA, VOPRF];
/** Rows for `test.each`. */
export const NAMED = TYPES.map((type) => [TOKEN_TYPES[type].name, type] as const);
/** Seconds. */
export const SKEW = 5;

export const START = new ManualClock().now();
/** Seconds until the keys end. */
export const LIFE = 1000;
export const END = START + LIFE * 1000;

export const granted = {
  kind: 'granted',
  principal: { kind: 'anonymous' },
  grounds: expect.anything(),
};
export const refused = (refusal: Refusal) => ({ kind: 'refused', ...refusal, untold: true });
export const USED = refused(refuse('private-token-used'));
export const NO_CHALLENGE = refused(refuse('private-token-challenge'));
export const NO_KEY = refused(refuse('private-token-key'));
export const NO_END = refused(refuse('private-token-old-key'));
export const WRONG = refused(refuse('private-token-authenticator'));
export const NO_TOKEN = refused(refuse('private-token-type'));

export type TestKey = TokenKeyPair & IssuerKey;

export function endingAt(until: number | undefined, pair: TokenKeyPair): TestKey {
  return { ...pair, until };
}

/** A key pair of each type. */
async function keysOf(until: number): Promise<TestKey[]> {
  return [endingAt(until, await generateBlindRsaKey()), endingAt(until, generateVoprfKey())];
}

/** The keys that all tests of a file share, since making an RSA key is slow. */
export const KEYS = await keysOf(END);
/** The keys of another issuer. */
export const OTHER_KEYS = await keysOf(END);

const CLIENT = { [BLIND_RSA]: blindRsa, [VOPRF]: blindVoprf };

const SIGN: Record<TokenType, (pair: TokenKeyPair, blinded: Buffer) => Buffer | undefined> = {
  [BLIND_RSA]: ({ privateKey }, blinded) =>
    blindSign(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }), blinded),
  [VOPRF]: ({ privateKey, publicKey }, blinded) => blindEvaluate(privateKey, publicKey, blinded),
};

const VERIFY: Record<TokenType, (pair: TokenKeyPair, token: Token) => boolean> = {
  [BLIND_RSA]({ publicKey }, { input, authenticator }) {
    const key = blindRsaPublicKey(publicKey);
    return key !== undefined && verifyBlindRsa(key, input, authenticator);
  },
  [VOPRF]: ({ privateKey }, { input, authenticator }) =>
    sameBytes(evaluate(privateKey, input), authenticator),
};

/** Returns a token as a client gets it from the issuer with that key. */
export function tokenOf(pair: TokenKeyPair, digest: Uint8Array): Buffer {
  const input = tokenInput(pair.type, systemRandom(32), digest, pair.id);
  const client = CLIENT[pair.type](pair.publicKey, input, systemRandom);
  const response = SIGN[pair.type](pair, client.blinded);
  const authenticator = response && client.finalize(response);
  if (authenticator === undefined) throw new Error('the issuer and its client do not agree');
  return Buffer.concat([input, authenticator]);
}

/** Creates an issuer in memory, with functions by which a test changes it. */
export function memoryIssuer(known: readonly TestKey[], name = 'issuer.example:8443') {
  const keys = [...known];
  const state = {
    down: false,
    /** Tokens that were verified. */
    verified: 0,
    /** Called while a token is verified. */
    meanwhile: (): void => undefined,
  };
  const asked = <T>(answer: () => T): T => {
    if (state.down) throw new KeysUnavailable(7);
    return answer();
  };
  const issuer: TrustedIssuer = {
    name,
    keys: (type) => asked(() => keys.filter((key) => key.type === type)),
    key: (type, id) => asked(() => keys.find((key) => key.type === type && key.id.equals(id))),
    async verify(token, { id }) {
      state.verified += 1;
      state.meanwhile();
      const pair = keys.find((key) => key.id.equals(id));
      return pair !== undefined && VERIFY[token.type](pair, token);
    },
  };
  return { keys, state, issuer };
}

export const challengeBytes = ({ params }: Challenge) =>
  Buffer.from(params?.['challenge'] ?? '', 'base64url');

/** Returns a client's token for a challenge that names one of the keys. */
export function answerTo(challenge: Challenge, keys: readonly TestKey[]): Buffer {
  const named = Buffer.from(challenge.params?.['token-key'] ?? '', 'base64url');
  const pair = keys.find(({ publicKey }) => publicKey.equals(named));
  if (pair === undefined) throw new Error('a challenge with the key of somebody else');
  return tokenOf(pair, challengeDigest(challengeBytes(challenge)));
}

export interface OriginOptions {
  readonly issuer: TrustedIssuer;
  readonly stores: { readonly spentTokens: SpentTokens; readonly limits: Pick<Limits, 'spend'> };
  readonly clock: Clock;
  readonly space?: Partial<ChallengedSpace>;
  readonly rate?: Rate;
  readonly memory?: () => Promise<string | undefined>;
}

/** Creates an origin as one process has it. */
export function originOf({ issuer, stores, clock, space, rate, memory }: OriginOptions) {
  const scheme = privateToken({
    space: { url: SPACE_URL, types: TYPES, origins: [], ...space },
    issuer,
    spent: stores.spentTokens,
    limits: stores.limits,
    rate: rate ?? { burst: 1_000_000, per: 0.001 },
    windowSecret: Buffer.alloc(32, 1),
    addressSecret: Buffer.alloc(32, 2),
    memory: memory ?? (async () => 'memory'),
    clock,
  });

  return {
    scheme,

    async challengeOf(type: TokenType): Promise<Challenge> {
      const all = await scheme.challenge(requestOf());
      const found = all.find((one) => challengeBytes(one).readUInt16BE() === type);
      if (found === undefined) throw new Error('no challenge of that type');
      return found;
    },

    async redeem(token: Uint8Array, address = '192.0.2.1'): Promise<Verdict> {
      const text = Buffer.from(token).toString('base64url');
      return scheme.authenticate(
        { scheme: 'privatetoken', rest: '', params: { token: text } },
        requestOf([], { peer: { address, connection: {}, http2: false, trusted: false } }),
      );
    },
  };
}

const opened: Stores[] = [];

afterAll(async () => {
  for (const stores of opened) await stores[Symbol.asyncDispose]();
});

/** Opens the store as a process does. */
export async function openStores(folder: string, clock: Clock): Promise<Stores> {
  const stores = await openSqlite({ folder, clock, random: systemRandom });
  opened.push(stores);
  return stores;
}

/** Returns a clock that differs from another by so many seconds. */
export function offBy(clock: Clock, seconds: number): Clock {
  return { now: () => clock.now() + seconds * 1000, monotonic: () => clock.monotonic() };
}

/** Creates an issuer with both keys, and an origin that accepts its tokens, on one clock. */
export async function issuerAndOrigin(
  more: Partial<OriginOptions> = {},
  keys: readonly TestKey[] = KEYS,
) {
  const clock = new ManualClock();
  const folder = await storeFolder();
  const stores = await openStores(folder, clock);
  const issuer = memoryIssuer(keys);
  const at = (options: Partial<OriginOptions> = {}) =>
    originOf({ issuer: issuer.issuer, stores, clock, ...more, ...options });
  const origin = at();
  const get = async (type: TokenType, from = origin) =>
    answerTo(await from.challengeOf(type), issuer.keys);
  return { clock, folder, stores, issuer, at, get, ...origin };
}
