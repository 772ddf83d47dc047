/** @slow */
import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import {
  GENERATE,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
  rotateTokenKey,
  type TokenKeyLifecycle,
} from '#shared/keys/token-key-lifecycle.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import type { Token } from '#shared/private-token/token.ts';
import { evaluate } from '#shared/private-token/voprf.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { voprf } from '#shared/private-token/voprf-thread.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { tokenFor } from './issuer.fixture.ts';
import { verificationByStore } from './verification-by-store.ts';

const TIMES = { rotation: 1000, overlap: 500, maxAge: 100 };

/** Makes the keys of an issuer in a real store, and an origin that can open them. */
async function setup({ memory = true } = {}) {
  const clock = new ManualClock();
  const stack = new AsyncDisposableStack();
  const config = configSchema.parse({ data: await (memory ? storeFolder : temporaryFolder)() });
  const life = longestLife(config);
  const parts = { clock, random: systemRandom, log: silentLog, longestLife: life };
  const stores = stack.use(await openStores(config, parts));
  const master = systemRandom(32);
  const keys: TokenKeyLifecycle = {
    stores,
    master,
    clock,
    random: systemRandom,
    times: TIMES,
    generate: GENERATE,
  };
  if (memory) await keepTokenKeys(keys, await listTokenKeys(keys));
  const options = { stores, master, clock, times: TIMES, voprf };
  return {
    options,
    stores,
    clock,
    keys,
    verify: verificationByStore(options),

    /** The VOPRF key, as in the directory. */
    async key() {
      const all = await stores.tokenKeys.list();
      const found = all.find(({ type }) => type === VOPRF);
      if (found === undefined) throw new Error('there is no key');
      const [publicKey, id] = [found.publicKey, found.id].map((text) =>
        Buffer.from(text, 'base64url'),
      ) as [Buffer, Buffer];
      return { type: VOPRF, publicKey, id, until: undefined, row: found } as const;
    },

    /** Makes a valid token of the key. */
    async token(): Promise<Token> {
      const key = await this.key();
      const token = tokenFor(key);
      return { ...token, authenticator: evaluate(openTokenKey(master, key.row), token.input) };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('RFC 9578 section 5.4: a VOPRF token is verified with the private key', () => {
  test('a token is valid, also fifty times at once', async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    expect(await origin.verify(token, key, ALONE)).toBe(true);
    const again = Array.from({ length: 50 }, async () => origin.verify(token, key, ALONE));
    expect((await Promise.all(again)).every(Boolean)).toBe(true);
  });

  test('a token with any bit changed is invalid', async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    for (const part of ['input', 'authenticator'] as const) {
      for (let at = 0; at < token[part].length; at += 1) {
        const changed = Buffer.from(token[part]);
        changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at & 7)), at);
        expect(await origin.verify({ ...token, [part]: changed }, key, ALONE)).toBe(false);
      }
    }
  });

  test('a token with a key that the issuer does not have is invalid', async () => {
    await using origin = await setup();
    const pair = generateVoprfKey();
    const token = tokenFor(pair);
    const authenticator = evaluate(pair.privateKey, token.input);
    const key = { ...pair, until: undefined };
    expect(await origin.verify({ ...token, authenticator }, key, ALONE)).toBe(false);
  });

  test("a token of a retired key is invalid, even if the key's row is still there", async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    await rotateTokenKey(origin.keys, VOPRF);
    origin.clock.advance(TIMES.maxAge + TIMES.overlap - 1);
    expect(await origin.verify(token, { ...key }, ALONE)).toBe(true);
    origin.clock.advance(1);
    expect(await origin.verify(token, { ...key }, ALONE)).toBe(false);
  });

  test('a token of a key whose private part was deleted is invalid', async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    await origin.stores.tokenKeys.retire(VOPRF, key.row.id);
    expect(await origin.verify(token, key, ALONE)).toBe(false);
  });

  test('the private key is read once for each fetch of the directory', async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    let listed = 0;
    const { revocations, tokenKeys } = origin.stores;
    const list = () => {
      listed += 1;
      return tokenKeys.list();
    };
    const stores = { revocations, tokenKeys: { ...tokenKeys, list } };
    const verify = verificationByStore({ ...origin.options, stores });
    for (let n = 0; n < 3; n += 1) expect(await verify(token, key, ALONE)).toBe(true);
    expect(listed).toBe(1);
    expect(await verify(token, { ...key }, ALONE)).toBe(true);
    expect(listed).toBe(2);
  });

  test('with another master secret the keys cannot be opened, and no token is valid', async () => {
    await using origin = await setup();
    const [key, token] = [await origin.key(), await origin.token()];
    const verify = verificationByStore({ ...origin.options, master: systemRandom(32) });
    await expect(verify(token, key, ALONE)).rejects.toThrow('do not open under this master secret');
  });

  test('a store without memory makes verification unavailable', async () => {
    await using origin = await setup({ memory: false });
    const key = { ...generateVoprfKey(), until: undefined };
    await expect(origin.verify(tokenFor(key), key, ALONE)).rejects.toThrow(StoreUnavailable);
  });
});
