import { Writable } from 'node:stream';
import type http from 'node:http';
import { connect } from 'node:net';
import { systemRandom } from '#shared/base/random.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Holder, holdersOf } from '../../space/account.ts';
import { Flow } from '../../forwarding/flow.ts';
import { startApplication, startGateway } from '../gateway.fixture.ts';
import { type Bid, LEFT, Places } from '../../gateway/places.ts';

/** Milliseconds for which a request may wait. */
const LONG = 60_000;
const AGES = 10 * LONG;

/** A request of that account, or from that address. */
function bidOf(name: string, { part = 1, slow = false, moves = 0 } = {}) {
  const exchange = new Writable();
  let moved = 0;
  const flow: Flow = Object.assign(Object.create(Flow.prototype) as Flow, { end: jest.fn() });
  Object.defineProperty(flow, 'waitsForClient', { get: () => slow });
  Object.defineProperty(flow, 'moved', { get: () => (moved += moves) });
  return { holders: [{ name, part }], exchange, flow };
}

/** Returns how many such requests get a place at once. */
async function takeAll(places: Places, bid: () => Bid): Promise<number> {
  for (let taken = 0; ; taken += 1) {
    let has = false;
    const one = bid();
    const asked = places.take(one).then(
      () => (has = true),
      () => {},
    );
    await new Promise((resolve) => setImmediate(resolve));
    if (has) continue;
    (one.exchange as Writable).destroy();
    await asked;
    return taken;
  }
}

describe('connections to an application', () => {
  test('accounts get connections in rotation, however many requests of one account wait', async () => {
    const places = new Places(2, LONG);
    const order: string[] = [];
    const held = await Promise.all(['a', 'b'].map((account) => places.take(bidOf(account))));
    const asked = ['a', 'a', 'a', 'c'].map(async (account, index) => {
      const giveBack = await places.take(bidOf(account));
      order.push(`${account}${index}`);
      giveBack();
    });
    held[0]?.();
    await Promise.all(asked);
    expect(order).toEqual(['a0', 'c3', 'a1', 'a2']);
    held[1]?.();
  });

  test('a free connection goes to the account with the fewest connections', async () => {
    const places = new Places(4, LONG);
    const held = await Promise.all(['a', 'a', 'a', 'b'].map((name) => places.take(bidOf(name))));
    const order: string[] = [];
    const asked = ['a', 'b', 'c'].map(async (name) => {
      await places.take(bidOf(name));
      order.push(name);
    });
    for (const giveBack of held.toReversed()) giveBack();
    await Promise.all(asked);
    expect(order).toEqual(['b', 'c', 'a']);
  });

  test('waiting requests get connections in order, each once', async () => {
    const places = new Places(1, LONG);
    const giveBack = await places.take(bidOf('a'));
    const order: string[] = [];
    const second = places.take(bidOf('a')).then((back) => (order.push('second'), back));
    const third = places.take(bidOf('a')).then((back) => (order.push('third'), back));
    giveBack();
    giveBack();
    (await second)();
    (await third)();
    expect(order).toEqual(['second', 'third']);
    (await places.take(bidOf('a')))();
  });

  test('a client that disconnects while it waits gets no connection', async () => {
    const places = new Places(1, LONG);
    const giveBack = await places.take(bidOf('a'));
    const leaving = Array.from({ length: 1000 }, () => bidOf('a'));
    const taken = leaving.map((one) => places.take(one));
    expect(places.waiting).toBe(1000);
    for (const { exchange } of leaving) exchange.destroy();
    const outcomes = await Promise.allSettled(taken);
    expect(new Set(outcomes.map((one) => 'reason' in one && one.reason))).toEqual(new Set([LEFT]));
    expect(places.waiting).toBe(0);
    expect(leaving.every(({ exchange }) => exchange.listenerCount('close') === 0)).toBe(true);
    giveBack();
    (await places.take(bidOf('a')))();
  });

  test('a client that disconnects at the moment it gets a connection gives it back', async () => {
    const places = new Places(1, LONG);
    const giveBack = await places.take(bidOf('a'));
    const leaving = bidOf('a');
    const taken = places.take(leaving);
    giveBack();
    leaving.exchange.destroy();
    await expect(taken).rejects.toBe(LEFT);
    (await places.take(bidOf('a')))();
  });

  test('a client that waited too long gets 503, which does not count as a failure of the application', async () => {
    const places = new Places(1, 1);
    const giveBack = await places.take(bidOf('a'));
    await expect(places.take(bidOf('a'))).rejects.toMatchObject({ status: 503 });
    expect(places.waiting).toBe(0);
    giveBack();
    (await places.take(bidOf('a')))();
  });

  test('if many clients have waited too long, only a few get 503 in each turn of the event loop', async () => {
    const places = new Places(1, 1);
    await places.take(bidOf('a'));
    let told = 0;
    const asked = Array.from({ length: 1000 }, () =>
      places.take(bidOf('a')).catch(() => {
        told += 1;
      }),
    );
    let most = 0;
    while (told < asked.length) {
      const before = told;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, told - before);
    }
    expect(most).toBeLessThanOrEqual(64);
  });
});

describe('a hundred places', () => {
  const person = (name: string): Principal => ({ kind: 'person', realm: 'r', name });
  const at = (site: number, host = 1) => `2001:db8:${site}:${host}::1`;

  test.each<[string, readonly number[], (n: number, k: number) => readonly Holder[]]>([
    ['addresses', [75, 56, 42, 4], (n) => holdersOf(undefined, `192.0.2.${n}`)],
    ['IPv6 networks of 48 bits', [75, 56, 42, 4], (n, k) => holdersOf(undefined, at(n, k))],
    ['accounts', [75, 56, 42, 4], (n) => holdersOf(person(`p${n}`), `192.0.2.${n}`)],
    ['accounts at many addresses', [75, 56, 42, 4], (n, k) => holdersOf(person(`p${n}`), at(k))],
    [
      'addresses with many accounts',
      [66, 44, 29, 1],
      (n, k) => holdersOf(person(`${n},${k}`), at(n)),
    ],
  ])(
    'one, two, three and ten greedy %s leave %j of a hundred connections',
    async (_, left, holders) => {
      for (const [index, greedy] of [1, 2, 3, 10].entries()) {
        const places = new Places(100, LONG);
        let [taken, k] = [0, 0];
        for (let n = 0; n < greedy; n += 1) {
          taken += await takeAll(places, () => ({ ...bidOf(''), holders: holders(n, (k += 1)) }));
        }
        expect(100 - taken).toBe(left[index]);
        const newcomer = { ...bidOf(''), holders: holdersOf(person('new'), '198.51.100.1') };
        (await places.take(newcomer))();
      }
    },
  );
});

describe('a client that is slow', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /**
   * Fills all places by one account, with a second account waiting. `ended`: the requests whose connection was taken
   * away.
   */
  async function contended(how: object, waiting = 'b') {
    const places = new Places(4, LONG);
    const held = Array.from({ length: 4 }, () => bidOf('a', how));
    for (const bid of held) {
      const giveBack = await places.take(bid);
      bid.flow.end = jest.fn(giveBack);
    }
    const ended = () =>
      held.filter(({ flow: { end } }) => (end as jest.Mock).mock.calls.length > 0);
    if (waiting === '') return { places, ended };
    const taken = places.take(bidOf(waiting));
    return { places, ended, taken };
  }

  test('a slow client loses its connection to a waiting account with fewer connections', async () => {
    const { ended, taken } = await contended({ slow: true });
    jest.advanceTimersByTime(LONG / 2);
    await taken;
    expect(ended().map(({ flow }) => (flow.end as jest.Mock).mock.calls)).toEqual([
      [[expect.objectContaining({ status: 408 })]],
    ]);
    jest.advanceTimersByTime(AGES);
    expect(ended()).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a slow client keeps its connection while no account waits', async () => {
    const { ended } = await contended({ slow: true }, '');
    jest.advanceTimersByTime(AGES);
    expect(ended()).toEqual([]);
  });

  test.each([
    ['moves as much as is asked for', { slow: true, moves: 4096 * 60 }, 'b'],
    ['waits for the application, such as for the next event', { slow: false }, 'b'],
    ['belongs to the account that waits', { slow: true }, 'a'],
  ])('a slow client keeps its connection if it %s', async (_, how, waiting) => {
    const { ended, taken } = await contended(how, waiting);
    jest.advanceTimersByTime(LONG + 1);
    await expect(taken).rejects.toMatchObject({ status: 503 });
    expect(ended()).toEqual([]);
  });

  test('a slow client loses its connection to another account at the same address', async () => {
    const places = new Places(4, LONG);
    const address = { name: 'at', part: 1 };
    const held = Array.from({ length: 4 }, () => bidOf('', { slow: true }));
    for (const one of held) {
      const holders = [{ name: 'a', part: 1 }, address];
      one.flow.end = jest.fn(await places.take({ ...one, holders }));
    }
    const taken = places.take({ ...bidOf(''), holders: [{ name: 'b', part: 1 }, address] });
    jest.advanceTimersByTime(LONG / 2);
    await taken;
  });
});

/** An application that delays its answers, and counts its open requests. */
async function holdingApplication() {
  const held: http.ServerResponse[] = [];
  const urls: string[] = [];
  const application = await startApplication((request, response) => {
    urls.push(request.url ?? '');
    held.push(response);
  });
  return { application, held, urls };
}

test('an application gets no more concurrent requests than configured, over all its URLs', async () => {
  const { application, held, urls } = await holdingApplication();
  await using _ = application;
  await using gateway = await startGateway({
    shop: { upstream: { url: application.url, connections: 1 }, schemes: [], scopes: {} },
  });
  const plain = gateway.ask('GET', '/shop/plain');
  await eventually(() => expect(urls).toEqual(['/plain']));
  const withTrailers = gateway.ask('GET', '/shop/te', { headers: { TE: 'trailers' } });
  const last = gateway.ask('GET', '/shop/last');
  for (const [index, url] of ['/plain', '/te', '/last'].entries()) {
    await eventually(() => expect(urls.at(-1)).toBe(url));
    expect(urls.length).toBe(index + 1);
    held[index]?.end('answer');
  }
  const replies = await Promise.all([plain, withTrailers, last]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test.each([
  ['account', {}],
  ['address, where nobody is asked', { schemes: [], scopes: {} }],
])('requests that hang leave connections for clients of another %s', async (_, more) => {
  const urls: (string | undefined)[] = [];
  await using application = await startApplication(({ url }, response) => {
    urls.push(url);
    if (url !== '/hang') response.end('answer');
  });
  await using gateway = await startGateway({
    shop: { upstream: { url: application.url, connections: 2 }, ...more },
  });
  const askAs = (n: number, path: string) =>
    gateway.ask('GET', `/shop/${path}`, {
      headers: {
        'X-Forwarded-For': `192.0.2.${n}`,
        Authorization: `Bearer ${gateway.token('shop:read', { sub: `m${n}`, client_id: `m${n}` })}`,
      },
    });
  const hanging = [1, 2, 3].map(() => askAs(1, 'hang').catch(() => undefined));
  await eventually(() => expect(urls).toEqual(['/hang']));
  expect((await askAs(2, 'x')).text).toBe('answer');
  expect(urls).toEqual(['/hang', '/x']);
  await gateway.listening.close(0);
  await Promise.all(hanging);
});

test('a client that disconnects before it is admitted causes no request to the application', async () => {
  const gate = Promise.withResolvers<void>();
  const urls: (string | undefined)[] = [];
  let asked = 0;
  await using application = await startApplication(({ url }, response) => {
    urls.push(url);
    response.end(Buffer.alloc(5_000_000));
  });
  await using gateway = await startGateway(
    { keys: { upstream: { url: application.url, connections: 1 }, schemes: ['API-Key'] } },
    {},
    (stores) => ({
      ...stores,
      apiKeys: {
        ...stores.apiKeys,
        get: async (id) => {
          asked += 1;
          await gate.promise;
          return stores.apiKeys.get(id);
        },
      },
    }),
  );
  const { id, key, secret_hash } = newApiKey(systemRandom);
  await gateway.stores.apiKeys.add({
    id,
    secret_hash,
    application: 'a',
    realm: 'keys',
    scopes: ['keys:read'],
    created_at: gateway.clock.now(),
  });
  const client = connect(gateway.listening.port, '127.0.0.1');
  client.write(`GET /keys/x HTTP/1.1\r\nHost: rs.example\r\nX-API-Key: ${key}\r\n\r\n`);
  await eventually(() => expect(asked).toBe(1));
  client.resetAndDestroy();
  await eventually(() => expect(gateway.lines.join()).toContain('keys/x'));
  const later = gateway.ask('GET', '/keys/y', { headers: { 'X-API-Key': key } });
  await eventually(() => expect(asked).toBe(2));
  gate.resolve();
  expect((await later).status).toBe(200);
  expect(urls).toEqual(['/y']);
});
