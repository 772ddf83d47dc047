import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { blindRsaPublicKey } from '#shared/private-token/blind-rsa.ts';
import {
  DIRECTORY_PATH,
  formatDirectory,
  parseDirectory,
} from '#shared/private-token/issuer-directory.ts';
import {
  GENERATE,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
  replaceCompromisedTokenKeys,
  rotateTokenKey,
  type TokenKeyLifecycle,
} from './token-key-lifecycle.ts';
import { MOST_LIVE } from './token-key-schedule.ts';
import { type TokenKeyPair, tokenKeyId, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { isVoprfPublicKey } from '#shared/private-token/voprf-key.ts';

const TIMES = { rotation: 1000, overlap: 500, maxAge: 100 };

let clock: ManualClock;
let stores: Stores;
let life: TokenKeyLifecycle;

/** Makes octets instead of keys, since the lifecycle does not read them; thousands can be made fast. */
const octets =
  (type: TokenType) =>
  (random = systemRandom): TokenKeyPair => {
    const publicKey = random(49);
    return { type, publicKey, privateKey: random(48), id: tokenKeyId(publicKey) };
  };
const OCTETS = { [VOPRF]: octets(VOPRF), [BLIND_RSA]: octets(BLIND_RSA) };

beforeEach(async () => {
  clock = new ManualClock();
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  await stores.revocations.epoch(true);
  life = {
    stores,
    master: Buffer.alloc(32, 7),
    clock,
    random: systemRandom,
    times: TIMES,
    generate: OCTETS,
  };
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
});

const keep = async (more: Partial<TokenKeyLifecycle> = {}) => {
  const all = { ...life, ...more };
  return keepTokenKeys(all, await listTokenKeys(all));
};
const states = async (type: TokenType) =>
  (await listTokenKeys(life)).filter(({ key }) => key.type === type).map(({ state }) => state);

test('real keys are sealed in the store, and can be opened again', async () => {
  await keep({ generate: GENERATE });
  const rows = await stores.tokenKeys.list();
  for (const row of rows) {
    const publicKey = Buffer.from(row.publicKey, 'base64url');
    expect(tokenKeyId(publicKey).toString('base64url')).toBe(row.id);
    const opened = openTokenKey(life.master, row);
    expect(JSON.stringify(row)).not.toContain(opened.toString('base64url'));
    if (row.type === VOPRF)
      expect([isVoprfPublicKey(publicKey), opened.length]).toEqual([true, 48]);
    else expect(blindRsaPublicKey(publicKey)).toBeDefined();
  }
  expect(rows.map(({ type }) => type)).toEqual([VOPRF, BLIND_RSA]);
});

test('a sealed key opens under its master secret, for its key and type only', async () => {
  await keep();
  const [one, other] = await stores.tokenKeys.list();
  if (one === undefined || other === undefined) throw new Error('two keys are there');
  const words = 'do not open under this master secret';
  expect(() => openTokenKey(Buffer.alloc(32, 8), one)).toThrow(words);
  expect(() => openTokenKey(life.master, { ...one, id: other.id })).toThrow(words);
  expect(() => openTokenKey(life.master, { ...one, type: BLIND_RSA })).toThrow(words);
  const { sealed: _, ...retired } = one;
  expect(() => openTokenKey(life.master, retired)).toThrow(words);
});

test('each key is published, then issuing, retiring and retired', async () => {
  expect(await keep()).toBe(true);
  expect(await states(VOPRF)).toEqual(['issuing']);
  expect(await keep()).toBe(false);
  clock.advance(TIMES.rotation - TIMES.maxAge);
  await keep();
  expect(await states(VOPRF)).toEqual(['issuing', 'published']);
  clock.advance(TIMES.maxAge);
  expect(await keep()).toBe(false);
  expect(await states(VOPRF)).toEqual(['retiring', 'issuing']);
  clock.advance(TIMES.overlap);
  expect(await keep()).toBe(true);
  expect(await states(VOPRF)).toEqual(['retired', 'issuing']);
  expect(await keep()).toBe(false);
});

test('ten processes at once make one key of each type', async () => {
  const listed = await listTokenKeys(life);
  await Promise.all(Array.from({ length: 10 }, () => keepTokenKeys(life, listed)));
  expect(await stores.tokenKeys.list()).toHaveLength(2);
});

describe('RFC 9578 sections 5.5 and 6.5: truncated ids do not collide', () => {
  const truncated = async (type: TokenType) =>
    (await stores.tokenKeys.list())
      .filter((row) => row.type === type)
      .map(({ id }) => truncatedKeyId(Buffer.from(id, 'base64url')));

  /** Makes keys whose truncated id is taken, five times before one with a free id. */
  function colliding(type: TokenType, taken: number) {
    let left = 5;
    return (): TokenKeyPair => {
      for (;;) {
        const pair = octets(type)();
        if ((truncatedKeyId(pair.id) === taken) === left > 0) {
          left -= 1;
          return pair;
        }
      }
    };
  }

  test.each([
    ['live', 0],
    ['retired', 10_000],
  ])("a new key's truncated id is free beside a key that is %s", async (_, later) => {
    await keep();
    const [taken = -1] = await truncated(VOPRF);
    clock.advance(TIMES.rotation + later);
    await keep({ generate: { ...OCTETS, [VOPRF]: colliding(VOPRF, taken) } });
    const [first, second] = await truncated(VOPRF);
    expect(first).toBe(taken);
    expect(second).not.toBe(taken);
  });

  test('making a key fails with a reason if every new truncated id is taken', async () => {
    await keep();
    const row = await stores.tokenKeys.list();
    const publicKey = Buffer.from(row[0]?.publicKey ?? '', 'base64url');
    const same = { ...octets(VOPRF)(), publicKey, id: tokenKeyId(publicKey) };
    clock.advance(TIMES.rotation);
    await expect(keep({ generate: { ...OCTETS, [VOPRF]: () => same } })).rejects.toThrow(
      'no voprf-p384 key has a truncated id that is free',
    );
  });

  test('after 230 rotations 200 retired ids are reserved, and the oldest are free again', async () => {
    const ids: string[] = [];
    for (let rotation = 0; rotation < 230; rotation += 1) {
      await keep();
      const all = (await stores.tokenKeys.list()).filter(({ type }) => type === VOPRF);
      ids.push(all.at(-1)?.id ?? '');
      const short = all.map(({ id }) => truncatedKeyId(Buffer.from(id, 'base64url')));
      expect(new Set(short).size).toBe(short.length);
      clock.advance(TIMES.rotation + TIMES.overlap);
    }
    await keep();
    const rows = (await stores.tokenKeys.list()).filter(({ type }) => type === VOPRF);
    expect(rows).toHaveLength(201);
    expect(rows.slice(0, -1).map(({ id }) => id)).toEqual(ids.slice(-200));
    expect(rows.filter(({ sealed }) => sealed !== undefined)).toEqual(rows.slice(-1));
  });
});

describe('an early rotation', () => {
  test('an early rotation publishes a key that issues after maxAge; the old key stays valid for the overlap', async () => {
    await keep();
    clock.advance(10.5);
    const key = await rotateTokenKey(life, VOPRF);
    expect(key.notBefore).toBe(Math.ceil(clock.now() / 1000 + TIMES.maxAge) * 1000);
    expect([await states(VOPRF), await states(BLIND_RSA)]).toEqual([
      ['issuing', 'published'],
      ['issuing'],
    ]);
    clock.advance(TIMES.maxAge + 0.5);
    expect(await states(VOPRF)).toEqual(['retiring', 'issuing']);
    clock.advance(TIMES.overlap);
    expect(await states(VOPRF)).toEqual(['retired', 'issuing']);
  });

  test('an early rotation is refused while another is under way, also if ten start at once', async () => {
    await keep();
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, () => rotateTokenKey(life, VOPRF)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(rotateTokenKey(life, VOPRF)).rejects.toThrow('is under way: the next issues from');
    expect(await states(VOPRF)).toEqual(['issuing', 'published']);
  });

  test('a rotation is refused if the type has no key', async () => {
    await expect(rotateTokenKey(life, BLIND_RSA)).rejects.toThrow(
      'there is no blind-rsa-2048 key to rotate',
    );
  });
});

describe('the most keys of a directory', () => {
  const FULL = /^the directory has 22 voprf-p384 keys, which is the most: the next one retires at /;
  const live = async (type: TokenType) =>
    (await states(type)).filter((state) => state !== 'retired').length;
  const times = { rotation: 1000, overlap: 20_000, maxAge: 100 };
  beforeEach(async () => {
    life = { ...life, times };
    await keep();
  });

  /** Rotates by hand, as early as allowed, until it is refused. */
  async function fill(type: TokenType): Promise<void> {
    while ((await live(type)) < MOST_LIVE) {
      await rotateTokenKey(life, type);
      clock.advance(times.maxAge + 1);
    }
  }

  test('rotations by hand are refused at the limit, and the error says when there is room', async () => {
    await fill(VOPRF);
    await expect(rotateTokenKey(life, VOPRF)).rejects.toThrow(FULL);
    const until = Math.min(
      ...(await listTokenKeys(life))
        .filter(({ key, state }) => key.type === VOPRF && state !== 'retired')
        .map((one) => one.until),
    );
    const date = new Date(until).toISOString();
    await expect(rotateTokenKey(life, VOPRF)).rejects.toThrow(`the next one retires at ${date}`);
    clock.advance((until - clock.now()) / 1000 - 1);
    await expect(rotateTokenKey(life, VOPRF)).rejects.toThrow(FULL);
    clock.advance(1);
    await rotateTokenKey(life, VOPRF);
    expect(await live(VOPRF)).toBe(MOST_LIVE);
  });

  test('one of ten rotations at once for the last place succeeds', async () => {
    while ((await live(VOPRF)) < MOST_LIVE - 1) {
      await rotateTokenKey(life, VOPRF);
      clock.advance(times.maxAge + 1);
    }
    await Promise.allSettled(Array.from({ length: 10 }, () => rotateTokenKey(life, VOPRF)));
    expect(await live(VOPRF)).toBe(MOST_LIVE);
  });

  test('the automatic rotation waits for room, too, and logs it; the other type has its own limit', async () => {
    await fill(VOPRF);
    clock.advance(times.rotation - times.maxAge);
    await expect(keep()).rejects.toThrow(FULL);
    expect([await live(VOPRF), await live(BLIND_RSA)]).toEqual([MOST_LIVE, 2]);
    expect(await states(VOPRF)).toContain('issuing');
  });

  test('at any time of rotation one key issues', async () => {
    for (let step = 0; step < 600; step += 1) {
      await keep().catch(() => {});
      await rotateTokenKey(life, VOPRF).catch(() => {});
      const now = (await states(VOPRF)).filter((state) => state !== 'retired');
      expect(now.length).toBeLessThanOrEqual(MOST_LIVE);
      expect(now).toContain('issuing');
      clock.advance(step < 400 ? times.maxAge + 1 : 331);
    }
  });

  test('the longest overlap that the configuration allows never reaches the limit', async () => {
    life = { ...life, times: { ...times, maxAge: times.rotation } };
    let most = 0;
    for (let step = 0; step < 300; step += 1) {
      await keep();
      most = Math.max(most, await live(VOPRF), await live(BLIND_RSA));
      clock.advance(times.rotation / 7);
    }
    expect(most).toBe(MOST_LIVE);
  });

  test('compromised keys make room for a new key, however many they are, and are recalled', async () => {
    await fill(VOPRF);
    const before = (await listTokenKeys(life)).filter(({ key }) => key.type === VOPRF);
    const { ended, key } = await replaceCompromisedTokenKeys(life, VOPRF);
    expect(ended).toEqual(before.map((one) => one.key));
    const left = (await listTokenKeys(life)).filter(({ state }) => state !== 'retired');
    expect(left).toMatchObject([{ key: { type: BLIND_RSA } }, { key, state: 'issuing' }]);
    expect(await stores.tokenKeys.recalls()).toBe(1);
    await keep();
    expect(
      (await stores.tokenKeys.list()).some(({ id, sealed }) => sealed && id === ended[0]?.id),
    ).toBe(false);
  });

  test('if keys are replaced as compromised ten times at once, one key is left, and it issues', async () => {
    await keep();
    const told = await Promise.all(
      Array.from({ length: 10 }, () => replaceCompromisedTokenKeys(life, BLIND_RSA)),
    );
    const left = (await listTokenKeys(life)).filter(
      ({ key, state }) => key.type === BLIND_RSA && state !== 'retired',
    );
    expect(left).toMatchObject([{ state: 'issuing' }]);
    expect(told.map(({ key }) => key.id)).toContain(left[0]?.key.id);
  });

  test('if keys are replaced as compromised while another key is made, that key ends, too, and a new key issues', async () => {
    await keep();
    let late = false;
    const generate = {
      ...OCTETS,
      async [VOPRF]() {
        if (!late) await rotateTokenKey(life, VOPRF);
        late = true;
        return OCTETS[VOPRF]();
      },
    };
    const { ended, key } = await replaceCompromisedTokenKeys({ ...life, generate }, VOPRF);
    expect(ended).toHaveLength(2);
    expect(await states(VOPRF)).toEqual(['retired', 'retired', 'issuing']);
    expect((await listTokenKeys(life)).at(-1)?.key).toEqual(key);
  });

  test('if the store fails for one key, the other keys end and are recalled, and the log reports the failure', async () => {
    await keep();
    const { key: next } = await replaceCompromisedTokenKeys(life, VOPRF);
    await rotateTokenKey(life, VOPRF);
    const { tokenKeys } = stores;
    const failing = async (type: TokenType, id: string) => {
      if (id === next.id) throw new StoreUnavailable('no replica');
      await tokenKeys.retire(type, id);
    };
    const broken = { ...stores, tokenKeys: { ...tokenKeys, retire: failing } };
    await expect(replaceCompromisedTokenKeys({ ...life, stores: broken }, VOPRF)).rejects.toThrow(
      'no replica',
    );
    expect(await tokenKeys.recalls()).toBe(2);
    expect(await states(VOPRF)).toEqual(['retired', 'issuing', 'retired', 'issuing']);
    const { ended } = await replaceCompromisedTokenKeys(life, VOPRF);
    expect(ended.map(({ id }) => id)).toContain(next.id);
  });

  test('a replacement issues at once, even if the clocks of the servers are behind', async () => {
    await keep();
    const ahead = new ManualClock(clock.now() + 60_000);
    await replaceCompromisedTokenKeys({ ...life, clock: ahead }, BLIND_RSA);
    expect(await states(BLIND_RSA)).toEqual(['retired', 'issuing']);
  });

  test('RFC 9578 section 4: clients accept a directory with the most keys that it may have', async () => {
    await fill(VOPRF);
    await fill(BLIND_RSA);
    const url = `https://issuer.example${DIRECTORY_PATH}`;
    const keys = (await listTokenKeys(life))
      .filter(({ state }) => state !== 'retired')
      .map(({ key }) => ({
        type: key.type,
        id: Buffer.from(key.id, 'base64url'),
        publicKey: Buffer.from(key.publicKey, 'base64url'),
      }));
    expect(keys).toHaveLength(2 * MOST_LIVE);
    const document: unknown = JSON.parse(formatDirectory({ requestUrl: url, keys }));
    expect(() => parseDirectory(document, url)).not.toThrow();
  });
});
