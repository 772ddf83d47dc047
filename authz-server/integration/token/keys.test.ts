import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { endCompromisedKey, rotateKey } from '#shared/keys/signing-key-lifecycle.ts';
import type { KeyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { systemRandom } from '#shared/base/random.ts';
import { asApp, testAuthz } from '../authz.fixture.ts';
import type { TestAuthz } from '../authz.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

/** The test moves our clock, which begins now because the engine has only the system's clock. */
const clock = new ManualClock(Date.now());
let authz: TestAuthz;
let life: KeyLifecycle;

beforeAll(async () => {
  authz = await testAuthz({}, clock);
  life = {
    stores: authz.stores,
    table: 'keys',
    master: authz.master,
    clock,
    random: systemRandom,
    overlap: 360,
    longestLife: 605,
  };
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

interface Published {
  readonly kid: string;
  readonly alg: string;
}

async function published(): Promise<Published[]> {
  const response = await fetched(`${authz.url}/jwks`);
  const { keys } = (await response.json()) as { keys: Published[] };
  return keys.filter(({ alg }) => alg === 'ES256');
}

async function signingKid(): Promise<string | undefined> {
  const { body } = await authz.post('/token', { grant_type: 'client_credentials' }, asApp);
  return decodeProtectedHeader(String(body['access_token'])).kid;
}

describe('signing keys (RFC 7517)', () => {
  test('the key set is public, may be cached, and contains no private part', async () => {
    const response = await fetched(`${authz.url}/jwks`);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
    expect(new Set(keys.map(({ alg }) => alg))).toEqual(new Set(['ES256', 'EdDSA', 'RS256']));
    for (const key of keys) {
      expect(Object.keys(key)).not.toEqual(expect.arrayContaining(['d']));
      expect(key['use']).toBe('sig');
    }
  });

  test('a new key is published, signs after the overlap, and the old one retires after the longest token lifetime', async () => {
    const old = await signingKid();
    const { kid } = await rotateKey(life, 'ES256');
    expect((await published()).map((key) => key.kid)).toEqual([old, kid]);
    expect(await signingKid()).toBe(old);
    await expect(rotateKey(life, 'ES256')).rejects.toThrow(/under way/);

    clock.advance(360);
    await fetched(`${authz.url}/jwks`);
    expect(await signingKid()).toBe(kid);
    expect((await published()).map((key) => key.kid)).toEqual([kid, old]);

    clock.advance(605);
    expect((await published()).map((key) => key.kid)).toEqual([kid]);
  });

  test('a compromised key is removed at once, and its tokens are refused', async () => {
    const { body } = await authz.post('/token', { grant_type: 'client_credentials' }, asApp);
    const token = String(body['access_token']);
    const old = decodeProtectedHeader(token).kid ?? '';
    const key = await endCompromisedKey(life, old);
    const introspected = await authz.post('/token/introspection', { token }, asApp);
    expect(introspected.body).toEqual({ active: false });
    expect((await published()).map(({ kid }) => kid)).toEqual([key?.kid]);
    expect(await signingKid()).toBe(key?.kid);
  });

  test('an alg without a key and an unknown kid are refused', async () => {
    await expect(endCompromisedKey(life, 'x')).rejects.toThrow('there is no key x');
  });
});
