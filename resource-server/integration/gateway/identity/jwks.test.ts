import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { endCompromisedKey, keyLifecycle, rotateKey } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { startGateway } from '../../gateway.fixture.ts';
import { JWKS_PATH } from '../../../gateway/identity/jwks.ts';

let down = false;
let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startGateway(
    { behind: { upstream: { url: 'http://127.0.0.1:9/' } } },
    {},
    (stores) => {
      const list = async () => {
        if (down) throw new StoreUnavailable('down');
        return stores.gatewayKeys.list();
      };
      return { ...stores, gatewayKeys: { ...stores.gatewayKeys, list } };
    },
  );
});
afterAll(() => rs[Symbol.asyncDispose]());

const life = () => keyLifecycle('gatewayKeys', { ...rs, random: systemRandom });
const ask = (headers = {}) => rs.ask('GET', JWKS_PATH, { headers });
const kids = async () => {
  const { keys } = JSON.parse((await ask()).text) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

describe(`GET ${JWKS_PATH}`, () => {
  test('RFC 7517 section 5: the keys of statements are public keys, which caches may store as long as the keys of tokens', async () => {
    const { status, headers, text } = await ask();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=300',
    });
    const { keys } = JSON.parse(text) as { keys: object[] };
    expect(keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        alg: 'ES256',
        use: 'sig',
      },
    ]);
  });

  test('RFC 9110 section 13.1.2: a client that has the keys of statements gets 304', async () => {
    const { etag = '' } = (await ask()).headers;
    expect(await ask({ 'If-None-Match': etag })).toMatchObject({ status: 304, text: '' });
    expect((await ask({ 'If-None-Match': '"other"' })).status).toBe(200);
  });

  test('the keys of statements have no key that signs tokens', async () => {
    const ring = await openKeyRing(keyLifecycle('keys', { ...rs, random: systemRandom }), [
      'ES256',
    ]);
    const [kid] = await kids();
    expect(ring.current.publicKey(kid ?? '')).toBeUndefined();
    expect((await rs.stores.keys.list()).map((key) => key.kid)).not.toContain(kid);
  });

  test('the keys of statements have a new key at once, and no compromised key', async () => {
    const [old = ''] = await kids();
    const { kid } = await rotateKey(life(), 'ES256');
    expect(await kids()).toEqual([old, kid]);
    const ended = await endCompromisedKey(life(), old);
    expect(await kids()).toEqual([ended?.kid, kid]);
  });

  test('the keys of statements are 503 during an outage of the store', async () => {
    down = true;
    const { status, headers } = await ask();
    down = false;
    expect([status, headers['cache-control']]).toEqual([503, 'no-store']);
  });
});

test('without spaces that send statements there are no keys, and none are generated', async () => {
  await using silent = await startResourceServer();
  expect((await silent.ask('GET', JWKS_PATH)).status).toBe(404);
  expect(await silent.stores.gatewayKeys.list()).toEqual([]);
});
