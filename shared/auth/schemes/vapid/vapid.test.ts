import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { HttpError } from '#shared/http/answer.ts';
import { isOwnKey } from './message-key.ts';
import { vapidAuthorization, vapidKey } from './prove.ts';
import { createVapid, p256Point } from './vapid.ts';

const ORIGIN = 'https://push.example.net';
const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { privateKey } = pair();
const KEY = vapidKey(privateKey);
const clock = new ManualClock();
const now = () => Math.floor(clock.now() / 1000);
const vapid = createVapid({ clock });
const proof = (changes: Partial<Parameters<typeof vapidAuthorization>[0]> = {}) =>
  vapidAuthorization({ key: privateKey, audience: ORIGIN, expires: now() + 3600, ...changes });

/** Returns the status of the refusal; undefined if the credentials are accepted. */
function refused(authorization: string | undefined, key?: string): number | undefined {
  try {
    vapid(authorization, ORIGIN, key);
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
}

/** Section 2.4; valid until 2016-01-23T04:36:08Z. */
const EXAMPLE = {
  t: [
    'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3',
    'B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1ha',
    'Wx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_H',
    'LGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA',
  ],
  k: 'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs',
};

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = () => ({ aud: ORIGIN, exp: now() + 3600 });

/** Credentials with any header and claims, signed by the key. */
function signed(
  header: object,
  payload: unknown,
  dsaEncoding: 'der' | 'ieee-p1363' = 'ieee-p1363',
) {
  const input = `${json(header)}.${json(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding });
  return `vapid t=${input}.${signature.toString('base64url')}, k=${KEY}`;
}

const ES256 = { typ: 'JWT', alg: 'ES256' };

describe('RFC 8292 section 3: good credentials', () => {
  test('good credentials name the key, for a subscription restricted to this key and for one without a key', () => {
    expect(vapid(proof(), ORIGIN, KEY)).toEqual({ key: KEY });
    expect(vapid(proof(), ORIGIN, undefined)).toEqual({ key: KEY });
  });

  test('section 2.4: the example of the RFC verifies at its time', () => {
    const token = EXAMPLE.t.join('');
    const of = createVapid({ clock: new ManualClock(1_453_500_000_000) });
    const given = of(`vapid t=${token}, k=${EXAMPLE.k}`, ORIGIN, EXAMPLE.k);
    expect(given).toEqual({ key: EXAMPLE.k });
  });

  test('credentials may vary in order, case of the scheme, spaces, and unknown parameters', () => {
    const [, t = '', k = ''] = /t=(.*), k=(.*)/.exec(proof()) ?? [];
    for (const text of [
      `vapid k=${k}, t=${t}`,
      `VAPID t=${t},k=${k}`,
      `vapid t="${t}" , k="${k}"`,
      `vapid t=${t}, more=1, k=${k}`,
    ]) {
      expect(vapid(text, ORIGIN, KEY)).toEqual({ key: KEY });
    }
  });

  test('RFC 7519 section 4.1.3: aud may be a list that has the origin', () => {
    expect(refused(signed(ES256, { ...claims(), aud: ['https://a.example', ORIGIN] }))).toBe(
      undefined,
    );
    expect(refused(signed(ES256, { ...claims(), aud: ['https://a.example'] }))).toBe(403);
  });

  test('RFC 7519 section 4.1.5: a token with nbf is refused before that time', () => {
    const own = new ManualClock(clock.now());
    const of = createVapid({ clock: own });
    const later = signed(ES256, { ...claims(), nbf: now() + 60 });
    expect(() => of(later, ORIGIN, undefined)).toThrow('nbf is yet to come');
    own.advance(60);
    expect(of(later, ORIGIN, undefined)).toEqual({ key: KEY });
  });

  test('section 2.1: sub is not checked', () => {
    for (const sub of [undefined, 'mailto:a@b.example', 'nonsense', 7]) {
      expect(refused(signed(ES256, { ...claims(), sub }))).toBe(undefined);
    }
  });

  test('verified credentials are remembered, and still expire', () => {
    const given = proof({ expires: now() + 60 });
    expect(refused(given)).toBe(undefined);
    expect(refused(given)).toBe(undefined);
    clock.advance(61);
    expect(refused(given)).toBe(403);
  });
});

describe('RFC 8292 section 4.2: refusals', () => {
  test('credentials are needed only for a subscription with a key; their absence then gives 401 with a challenge without parameters', () => {
    for (const text of [undefined, 'Basic YTpi', 'Bearer abc', '']) {
      expect(refused(text)).toBe(undefined);
      expect(refused(text, KEY)).toBe(401);
    }
    expect(() => vapid(undefined, ORIGIN, KEY)).toThrow(
      expect.objectContaining({ fields: { 'WWW-Authenticate': 'vapid' } }),
    );
  });

  const [, T = ''] = /t=(.*),/.exec(proof()) ?? [];
  const other = vapidKey(pair().privateKey);
  const point = Buffer.from(KEY, 'base64url');
  const off = Buffer.from(point).fill(7, 40);
  const compressed = Buffer.concat([Buffer.of(2), point.subarray(1, 33)]);

  test.each([
    ['nothing', 'vapid'],
    ['no t', `vapid k=${KEY}`],
    ['no k', `vapid t=${T}`],
    ['two t', `vapid t=${T}, t=${T}, k=${KEY}`],
    ['two k', `vapid t=${T}, k=${KEY}, k=${KEY}`],
    ['a token without parameters', `vapid ${T}`],
    ['a k with padding', `vapid t=${T}, k="${KEY}="`],
    ['a k off the curve', `vapid t=${T}, k=${off.toString('base64url')}`],
    ['a compressed k', `vapid t=${T}, k=${compressed.toString('base64url')}`],
    ['the k of somebody else', `vapid t=${T}, k=${other}`],
    ['the scheme of a draft', `WebPush ${T}`],
    ['an invalid token', `vapid t=abc, k=${KEY}`],
    ['a long token', `vapid t=${'a'.repeat(20_000)}, k=${KEY}`],
  ])('credentials with %s get 403, with and without a key of the subscription', (_what, text) => {
    expect(refused(text)).toBe(403);
    expect(refused(text, KEY)).toBe(403);
  });

  test.each<[string, object, unknown]>([
    ['another alg', { ...ES256, alg: 'RS256' }, claims()],
    ['no alg', { typ: 'JWT' }, claims()],
    ['alg none', { ...ES256, alg: 'none' }, claims()],
    ['an extension', { ...ES256, crit: ['x'], x: 1 }, claims()],
    ['no aud', ES256, { exp: now() + 3600 }],
    ['aud with a slash', ES256, { ...claims(), aud: `${ORIGIN}/` }],
    ['no exp', ES256, { aud: ORIGIN }],
    ['exp as text', ES256, { ...claims(), exp: String(now() + 3600) }],
    ['exp now', ES256, { ...claims(), exp: now() }],
    ['nbf to come (RFC 7519 section 4.1.5)', ES256, { ...claims(), nbf: now() + 3000 }],
    ['nbf as text', ES256, { ...claims(), nbf: '0' }],
    ['exp a day and a second ahead', ES256, { ...claims(), exp: now() + 86_401 + 61 }],
    ['claims that are no object', ES256, []],
  ])('a token with %s gets 403', (_what, header, payload) => {
    expect(refused(signed(header, payload))).toBe(403);
  });

  test('a signature that is in DER, truncated, longer or changed gets 403', () => {
    expect(refused(signed(ES256, claims(), 'der'))).toBe(403);
    const [, t = ''] = /t=(.*),/.exec(proof()) ?? [];
    const [head, payload, third = ''] = t.split('.');
    const signature = Buffer.from(third, 'base64url');
    const changed = Array.from(signature, (_, at) => {
      const copy = Buffer.from(signature);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy;
    });
    const cut = Array.from(signature, (_, at) => signature.subarray(0, at));
    for (const wrong of [...changed, ...cut, Buffer.concat([signature, Buffer.of(0)])]) {
      const text = `vapid t=${head}.${payload}.${wrong.toString('base64url')}, k=${KEY}`;
      expect(refused(text)).toBe(403);
    }
  });

  test("credentials of another key than the subscription's get 403", () => {
    expect(refused(proof(), other)).toBe(403);
    expect(refused(proof({ key: pair().privateKey }), KEY)).toBe(403);
  });

  test('any text gives a sender or a refusal, and no other exception', () => {
    const part = fc.constantFrom(
      'vapid',
      ' ',
      't=',
      'k=',
      ',',
      '"',
      T,
      KEY,
      '.',
      'webpush',
      '\u00e9',
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect([undefined, 401, 403]).toContain(refused(parts.join(''), KEY));
      }),
    );
  });
});

test('section 3.2: k is an uncompressed point in its one spelling', () => {
  expect(p256Point(KEY)).toBe(KEY);
  for (const wrong of ['', `${KEY}=`, `${KEY}A`, KEY.slice(1), KEY.replace(/^./, 'A')]) {
    expect(p256Point(wrong)).toBe(undefined);
  }
});

test("section 3.2: a message uses the sender's own key if its header names it (RFC 8188 section 2.1)", () => {
  const point = Buffer.from(KEY, 'base64url');
  const body = Buffer.concat([Buffer.alloc(20), Buffer.of(65), point, Buffer.alloc(20)]);
  expect(isOwnKey('aes128gcm', body, KEY)).toBe(true);
  expect(isOwnKey(' AES128GCM', body, KEY)).toBe(true);
  expect(isOwnKey('aesgcm', body, KEY)).toBe(false);
  expect(isOwnKey(undefined, body, KEY)).toBe(false);
  for (let length = 0; length < 86; length += 1) {
    expect(isOwnKey('aes128gcm', body.subarray(0, length), KEY)).toBe(false);
  }
});
