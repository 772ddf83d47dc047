import { Writable } from 'node:stream';
import type http from 'node:http';
import { connect } from 'node:net';
import { systemRandom } from '#shared/base/random.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { describe, expect, test } from '@jest/globals';
import { startApplication, startGateway } from './gateway.fixture.ts';
import { LEFT, Places } from './places.ts';

const LONG = 60_000;
const exchange = () => new Writable();

describe('places', () => {
  test('one account has half of them, and what it asks besides waits, though some are free', async () => {
    const places = new Places(4);
    const mine = [
      await places.take('a', exchange(), LONG),
      await places.take('a', exchange(), LONG),
    ];
    const third = places.take('a', exchange(), LONG);
    expect(places.waiting).toBe(1);
    await places.take('b', exchange(), LONG);
    mine[0]?.();
    (await third)();
    expect(places.waiting).toBe(0);
  });

  test('accounts take turns, however many requests of one wait', async () => {
    const places = new Places(2);
    const order: string[] = [];
    const held = await Promise.all(
      ['a', 'b'].map((account) => places.take(account, exchange(), LONG)),
    );
    const asked = ['a', 'a', 'a', 'c'].map(async (account, index) => {
      const giveBack = await places.take(account, exchange(), LONG);
      order.push(`${account}${index}`);
      giveBack();
    });
    held[0]?.();
    await Promise.all(asked);
    expect(order).toEqual(['a0', 'c3', 'a1', 'a2']);
    held[1]?.();
  });

  test('are given by turns, each once', async () => {
    const places = new Places(1);
    const giveBack = await places.take('a', exchange(), LONG);
    const order: string[] = [];
    const second = places.take('a', exchange(), LONG).then((back) => (order.push('second'), back));
    const third = places.take('a', exchange(), LONG).then((back) => (order.push('third'), back));
    giveBack();
    giveBack();
    (await second)();
    (await third)();
    expect(order).toEqual(['second', 'third']);
    (await places.take('a', exchange(), LONG))();
  });

  test('who leaves is out of the line, and takes no place', async () => {
    const places = new Places(1);
    const giveBack = await places.take('a', exchange(), LONG);
    const leaving = Array.from({ length: 1000 }, exchange);
    const taken = leaving.map((one) => places.take('a', one, LONG));
    expect(places.waiting).toBe(1000);
    for (const one of leaving) one.destroy();
    const outcomes = await Promise.allSettled(taken);
    expect(new Set(outcomes.map((one) => 'reason' in one && one.reason))).toEqual(new Set([LEFT]));
    expect(places.waiting).toBe(0);
    expect(leaving.every((one) => one.listenerCount('close') === 0)).toBe(true);
    giveBack();
    (await places.take('a', exchange(), LONG))();
  });

  test('who leaves as it is given one gives it back', async () => {
    const places = new Places(1);
    const giveBack = await places.take('a', exchange(), LONG);
    const leaving = exchange();
    const taken = places.take('a', leaving, LONG);
    giveBack();
    leaving.destroy();
    await expect(taken).rejects.toBe(LEFT);
    (await places.take('a', exchange(), LONG))();
  });

  test('who has waited for too long gets 503, which is no failure of the application', async () => {
    const places = new Places(1);
    const giveBack = await places.take('a', exchange(), LONG);
    await expect(places.take('a', exchange(), 1)).rejects.toMatchObject({ status: 503 });
    expect(places.waiting).toBe(0);
    giveBack();
    (await places.take('a', exchange(), LONG))();
  });
});

/** An application that holds its answers back, and counts those whom it lets wait. */
async function holdingApplication() {
  const held: http.ServerResponse[] = [];
  const urls: string[] = [];
  const application = await startApplication((request, response) => {
    urls.push(request.url ?? '');
    held.push(response);
  });
  return { application, held, urls };
}

test('an application gets no more at a time than it may, whichever way they go', async () => {
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
])('requests that hang leave places to who is of another %s', async (_, more) => {
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

test('who leaves before it is judged costs the application nothing', async () => {
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
