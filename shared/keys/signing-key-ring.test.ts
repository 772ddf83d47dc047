import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { endCompromisedKey, privateJwk } from './signing-key-lifecycle.ts';
import type { Jwk, KeyLifecycle } from './signing-key-lifecycle.ts';
import { systemRandom } from '#shared/base/random.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { openKeyRing } from './signing-key-ring.ts';

const clock = new ManualClock();
let stores: Stores;

beforeEach(async () => {
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
});

const life = (of: KeyLifecycle['stores'] = stores, at = clock): KeyLifecycle => ({
  stores: of,
  table: 'keys',
  master: Buffer.alloc(32, 7),
  clock: at,
  random: systemRandom,
  overlap: 360,
  longestLife: 605,
});

test('a caller that asks while the rows are read gets later writes, too', async () => {
  let list = () => stores.keys.list();
  const keys = { ...stores.keys, list: () => list() };
  const ring = await openKeyRing(life({ ...stores, keys }), ['ES256']);
  const old = ring.current.signingKid('ES256') ?? '';

  const read = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  list = async () => {
    const rows = await stores.keys.list();
    read.resolve();
    await held.promise;
    return rows;
  };
  const stale = ring.refresh();
  await read.promise;
  list = () => stores.keys.list();
  await endCompromisedKey(life(), old);
  const late = [ring.refresh(), ring.refresh()];
  held.resolve();
  await Promise.all([stale, ...late]);

  expect(ring.current.publicKey(old)).toBeUndefined();
  expect(ring.current.signingKid('ES256')).not.toBe(old);
});

test('the successor of a compromised key signs at once, although a process whose clock is ahead made it', async () => {
  const ring = await openKeyRing(life(), ['ES256']);
  const ahead = new ManualClock(clock.now() + 60_000);
  const key = await endCompromisedKey(life(stores, ahead), ring.current.signingKid('ES256') ?? '');
  await ring.refresh();
  expect(ring.current.signingKid('ES256')).toBe(key?.kid);
});

test('a store that lost its keys gets new ones', async () => {
  const ring = await openKeyRing(life(), ['ES256', 'EdDSA']);
  const old = ring.current.signingKid('EdDSA') ?? '';
  await stores.keys.remove(old);
  await ring.refresh();
  expect(ring.current.signingKid('EdDSA')).toEqual(expect.any(String));
  expect(ring.current.signingKid('EdDSA')).not.toBe(old);
});

test('under another master secret the ring does not open, and the error says why', async () => {
  await openKeyRing(life(), ['ES256']);
  const other = { ...life(), master: Buffer.alloc(32, 8) };
  await expect(openKeyRing(other, ['ES256'])).rejects.toThrow(
    /do not open under this master secret/,
  );
});

test('a key of the gateway does not open as a key of tokens, nor the other way round', async () => {
  const gateway = { ...life(), table: 'gatewayKeys' } as const;
  await openKeyRing(life(), ['ES256']);
  await openKeyRing(gateway, ['ES256']);
  const [[token], [statement]] = [await stores.keys.list(), await stores.gatewayKeys.list()];
  if (!token || !statement) throw new Error('there is no key');
  expect(privateJwk(gateway, statement)).toMatchObject({
    kid: statement.kid,
    d: expect.any(String),
  });
  expect(() => privateJwk(life(), statement)).toThrow(/do not open/);
  expect(() => privateJwk(gateway, token)).toThrow(/do not open/);
});

test('a ring publishes its keys without their private parts', async () => {
  const { current } = await openKeyRing(life(), ['ES256', 'EdDSA']);
  const names = ({ kid, alg }: Jwk) => ({ kid, alg });
  expect(current.publicJwks.map(names)).toEqual(current.jwks.map(names));
  for (const jwk of current.publicJwks) expect(jwk).not.toHaveProperty('d');
});
