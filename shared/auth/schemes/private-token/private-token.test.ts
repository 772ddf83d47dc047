/** @slow */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { parseChallenge } from '#shared/private-token/token-challenge.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { KeysUnavailable } from '../../tokens/issuer-keys.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { judge } from '../../judge/judge.ts';
import {
  challengeBytes,
  endingAt,
  granted,
  KEYS,
  LIFE,
  NAMED,
  NO_CHALLENGE,
  openStores,
  OTHER_KEYS,
  refused,
  START,
  issuerAndOrigin,
  TYPES,
  USED,
  WRONG,
} from './private-token.fixture.ts';

describe('RFC 9577 section 2.1.2: challenges', () => {
  test('a space sends a challenge for each type, in order, quoted and with padding', async () => {
    const { scheme, issuer } = await issuerAndOrigin();
    const challenges = await scheme.challenge(requestOf());
    expect(challenges.map((one) => parseChallenge(challengeBytes(one)))).toEqual(
      TYPES.map((type) => ({
        type,
        issuer: 'issuer.example:8443',
        context: Buffer.alloc(0),
        origins: ['rs.example'],
      })),
    );
    for (const [index, challenge] of challenges.entries()) {
      const { publicKey } = issuer.keys[index] ?? {};
      expect(challenge).toEqual({
        scheme: 'PrivateToken',
        params: {
          challenge: encodePadded(challengeBytes(challenge)),
          'token-key': encodePadded(publicKey ?? Buffer.alloc(0)),
          'max-age': String(LIFE),
        },
      });
      expect(formatChallenge(challenge)).toMatch(
        /^PrivateToken challenge="[\w-]+={0,2}", token-key="[\w-]+={0,2}", max-age="\d+"$/,
      );
    }
  });

  test('a challenge is the same for all clients, so that it cannot link their tokens', async () => {
    const { scheme, at } = await issuerAndOrigin({ space: { window: 60 } });
    const first = await scheme.challenge(requestOf());
    const peer = { address: '203.0.113.9', connection: {}, http2: true, trusted: true };
    const elsewhere = requestOf([['Cookie', 'a=b']], {
      target: '/tokens/b?c',
      method: 'PUT',
      peer,
    });
    expect(await scheme.challenge(elsewhere)).toEqual(first);
    expect(await at().scheme.challenge(requestOf())).toEqual(first);
  });

  test('max-age lasts until the end of the next window, or of the key if that is earlier', async () => {
    const { clock, challengeOf } = await issuerAndOrigin({ space: { window: 300 } });
    const ages = async () => Number((await challengeOf(BLIND_RSA)).params?.['max-age']);
    expect(START % 300_000).toBe(0);
    expect(await ages()).toBe(600);
    clock.advance(299.5);
    expect(await ages()).toBe(300);
    clock.advance(0.5);
    expect(await ages()).toBe(600);
    clock.advance(300);
    expect(await ages()).toBe(400);
  });

  test('the challenge names the first key of a type that has not ended', async () => {
    const { clock, challengeOf, issuer } = await issuerAndOrigin();
    const [rsa, voprf] = issuer.keys;
    const [next] = OTHER_KEYS;
    if (!rsa || !voprf || !next) throw new Error('no keys');
    issuer.keys.splice(0, 2, { ...rsa, until: START + 10_000 }, next, voprf);
    const key = async () => (await challengeOf(BLIND_RSA)).params?.['token-key'];
    expect(await key()).toBe(encodePadded(rsa.publicKey));
    clock.advance(9.999);
    expect(await key()).toBe(encodePadded(rsa.publicKey));
    clock.advance(0.001);
    expect(await key()).toBe(encodePadded(next.publicKey));
  });

  test('a type without a key is left out; if no type has a key, the answer is 503', async () => {
    const { scheme, issuer } = await issuerAndOrigin();
    issuer.keys.splice(0, 1);
    expect(await scheme.challenge(requestOf())).toHaveLength(1);
    issuer.keys.splice(0, 1);
    await expect(scheme.challenge(requestOf())).rejects.toThrow('no key that is of use');
    const outcome = await judge(spaceOf([scheme]), requestOf());
    expect(outcome).toMatchObject({ kind: 'answer', status: 503 });
  });

  test('keys without an end are used only with a window, since spent tokens could not be remembered for ever', async () => {
    const endless = KEYS.map((key) => endingAt(undefined, key));
    const without = await issuerAndOrigin({}, endless);
    await expect(without.scheme.challenge(requestOf())).rejects.toThrow('no key that is of use');
    const beside = await issuerAndOrigin({}, [...endless, ...OTHER_KEYS]);
    expect((await beside.challengeOf(VOPRF)).params?.['token-key']).toBe(
      encodePadded(OTHER_KEYS[1]?.publicKey ?? Buffer.alloc(0)),
    );
    const within = await issuerAndOrigin({ space: { window: 300 } }, endless);
    expect((await within.challengeOf(VOPRF)).params?.['max-age']).toBe('600');
    expect(await within.redeem(await within.get(VOPRF))).toEqual(granted);
  });

  test('RFC 9110 section 15.6.4: an issuer that does not answer gives 503 if the space has no other scheme', async () => {
    const { scheme, issuer } = await issuerAndOrigin();
    issuer.state.down = true;
    expect(await judge(spaceOf([scheme]), requestOf())).toMatchObject({
      kind: 'answer',
      status: 503,
      fields: { 'Retry-After': '7' },
    });
  });

  test('over a connection that others can read, PrivateToken is neither offered nor checked', async () => {
    const { scheme, get, issuer, redeem } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    const clear = requestOf([], { confidential: false });
    expect(await scheme.challenge(clear)).toEqual([]);
    const params = { token: token.toString('base64url') };
    const verdict = await scheme.authenticate({ scheme: 'privatetoken', rest: '', params }, clear);
    expect(verdict).toEqual(refused(refuse('private-token-clear-text')));
    expect(issuer.state.verified).toBe(0);
    expect(await redeem(token)).toEqual(granted);
  });
});

describe('RFC 9577 section 2.2: redemption', () => {
  test.each(NAMED)(
    '%s: a token is accepted once, and its principal is anonymous',
    async (_, type) => {
      const { get, redeem } = await issuerAndOrigin();
      const token = await get(type);
      expect(await redeem(token)).toEqual(granted);
      expect(await redeem(token)).toEqual(USED);
      expect(await redeem(token, '2001:db8::1')).toEqual(USED);
      expect(await redeem(await get(type))).toEqual(granted);
    },
  );

  test.each(NAMED)(
    '%s: of fifty requests at the same time with one token, at two processes, one is accepted',
    async (_, type) => {
      const { get, at, clock, folder } = await issuerAndOrigin();
      const processes = [at(), at({ stores: await openStores(folder, clock) })];
      const token = await get(type);
      const verdicts = await Promise.all(
        Array.from({ length: 25 }, () => processes.map((process) => process.redeem(token))).flat(),
      );
      expect(verdicts.filter((verdict) => verdict.kind === 'granted')).toEqual([granted]);
      expect(verdicts.filter((verdict) => verdict.kind === 'refused')).toEqual(
        Array.from({ length: 49 }, () => USED),
      );
    },
  );

  test.each(NAMED)(
    '%s: a token in Authorization is accepted quoted, unquoted and unpadded',
    async (_, type) => {
      const { get, scheme, at } = await issuerAndOrigin();
      const space = spaceOf([scheme]);
      const ask = async (credentials: string) =>
        judge(space, requestOf([['Authorization', credentials]]));
      const spellings: ((token: Buffer) => string)[] = [
        (token) => `PrivateToken token="${encodePadded(token)}"`,
        (token) => `PrivateToken token=${encodePadded(token)}`,
        (token) => `privatetoken Token=${token.toString('base64url')}`,
        (token) => `PrivateToken x=y, token="${token.toString('base64url')}", challenge="z"`,
      ];
      for (const spelled of spellings) {
        const credentials = spelled(await get(type, at()));
        expect(await ask(credentials)).toEqual({
          kind: 'pass',
          scheme: 'PrivateToken',
          principal: { kind: 'anonymous', scopes: new Set() },
          grounds: [expect.objectContaining({ end: expect.any(Function) })],
          fields: {},
        });
        expect(await ask(credentials)).toMatchObject({ kind: 'answer', status: 401 });
      }
    },
  );

  test('the answer to a refused token has fresh challenges', async () => {
    const { get, scheme, clock } = await issuerAndOrigin({ space: { window: 60 } });
    const token = await get(BLIND_RSA);
    clock.advance(120);
    const fresh = await scheme.challenge(requestOf());
    const request = requestOf([['Authorization', `PrivateToken token="${encodePadded(token)}"`]]);
    expect(await judge(spaceOf([scheme]), request)).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': fresh.map(formatChallenge) },
    });
  });
});

describe('failures give refusals', () => {
  test('an issuer that does not answer gives 503 with Retry-After, and the token is not spent', async () => {
    const { get, redeem, issuer, at } = await issuerAndOrigin();
    const token = await get(VOPRF);
    issuer.state.down = true;
    const unavailable = { kind: 'unavailable', status: 503, retryAfter: 7 };
    expect(await redeem(token)).toMatchObject(unavailable);
    issuer.state.down = false;
    issuer.state.meanwhile = () => {
      throw new KeysUnavailable(7);
    };
    expect(await redeem(token)).toMatchObject(unavailable);
    issuer.state.meanwhile = () => {
      throw new TypeError('defect');
    };
    await expect(redeem(token)).rejects.toThrow('defect');
    issuer.state.meanwhile = () => undefined;
    expect(await at().redeem(token)).toEqual(granted);
  });

  test('if the store does not answer, the scheme throws StoreUnavailable, and the token is not spent', async () => {
    const { get, at, stores, redeem } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    const down = () => Promise.reject(new StoreUnavailable('down'));
    const broken = at({ stores: { limits: stores.limits, spentTokens: { spend: down } } });
    await expect(broken.redeem(token)).rejects.toThrow(StoreUnavailable);
    const throttled = at({ stores: { limits: { spend: down }, spentTokens: stores.spentTokens } });
    await expect(throttled.redeem(token)).rejects.toThrow(StoreUnavailable);
    expect(await redeem(token)).toEqual(granted);
  });

  test('RFC 6585 section 4: tokens from one address are verified at a limited rate; a token refused without verification uses up no attempt', async () => {
    const { get, at, issuer } = await issuerAndOrigin();
    const limited = at({ rate: { burst: 3, per: 100 } });
    const elsewhere = await get(BLIND_RSA, at({ space: { url: 'https://evil.example/' } }));
    const address = '2001:db8:1:2::1';
    for (let n = 0; n < 5; n++)
      expect(await limited.redeem(elsewhere, address)).toEqual(NO_CHALLENGE);
    const token = await get(BLIND_RSA);
    const forged = Buffer.concat([token.subarray(0, -1), Buffer.of((token.at(-1) ?? 0) ^ 1)]);
    for (let n = 0; n < 3; n++) {
      expect(await limited.redeem(forged, `2001:db8:1:2::${n}`)).toEqual(WRONG);
    }
    expect(issuer.state.verified).toBe(3);
    const verdict = await limited.redeem(token, address);
    expect(verdict).toMatchObject({ kind: 'unavailable', status: 429, retryAfter: 100 });
    expect(issuer.state.verified).toBe(3);
    expect(await limited.redeem(token, '2001:db8:1:3::1')).toEqual(granted);
  });

  test("the store holds no address: the name of the limit's bucket is a keyed hash", async () => {
    const { get, at, stores } = await issuerAndOrigin();
    const rate = { burst: 1, per: 1000 };
    const keys: string[] = [];
    const spend: Limits['spend'] = (namespace, key, limit) => {
      keys.push(key);
      return stores.limits.spend(namespace, key, limit);
    };
    const limited = at({ rate, stores: { limits: { spend }, spentTokens: stores.spentTokens } });
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8:1:2::1', '2001:db8:1:2::2'];
    const kinds = [];
    for (const address of addresses) {
      kinds.push((await limited.redeem(await get(VOPRF), address)).kind);
      expect(await stores.limits.spend('redemption', address, rate)).toMatchObject({ ok: true });
    }
    expect(kinds).toEqual(['granted', 'granted', 'granted', 'unavailable']);
    expect(keys).toEqual(keys.map(() => expect.stringMatching(/^[\w-]{43}$/)));
    expect(new Set(keys).size).toBe(3);
    for (const address of addresses) {
      const hash = createHash('sha256').update(customerOf(address)).digest('base64url');
      expect(keys).not.toContain(hash);
    }
  });

  test('any token text gets 400 or 401', async () => {
    const { scheme, get } = await issuerAndOrigin();
    const [rsa, voprf] = [await get(BLIND_RSA), await get(VOPRF)];
    const space = spaceOf([scheme]);
    const near = fc
      .tuple(fc.constantFrom(rsa, voprf), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(400))
      .map(([token, at, mask, length]) => {
        const bytes = Buffer.from(token);
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ mask;
        return encodePadded(at % 3 === 0 ? bytes.subarray(0, length) : bytes);
      });
    const any = fc.oneof(
      anyText(),
      fc.uint8Array({ maxLength: 500 }).map(encodePadded),
      fc.base64String(),
      near,
    );
    await fc.assert(
      fc.asyncProperty(any, async (token) => {
        const params = { token };
        const credentials = { scheme: 'privatetoken', rest: '', params };
        expect((await scheme.authenticate(credentials, requestOf())).kind).toBe('refused');
        for (const value of [token, `"${token}"`]) {
          const request = requestOf([['Authorization', `PrivateToken token=${value}`]]);
          const outcome = await judge(space, request);
          expect(outcome.kind === 'answer' && [400, 401].includes(outcome.status)).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });
});
