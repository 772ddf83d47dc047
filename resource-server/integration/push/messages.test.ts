import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import { linkOf, ORIGIN, PAGE, pathOf, startPush, type TestPush } from './push.fixture.ts';

let push: TestPush;
beforeAll(async () => {
  push = await startPush();
});
afterAll(() => push[Symbol.asyncDispose]());

describe('RFC 8030 section 4: a subscription', () => {
  test('a push subscription is made with a token of a person: 201, its URL, and that of its push resource', async () => {
    const { status, headers } = await push.subscribe();
    expect(status).toBe(201);
    expect(headers.location).toMatch(/^https:\/\/push\.example\/push\/subscription\/[\w-]{22}$/);
    expect(headers['link']).toMatch(/^<\/push\/push\/[\w-]{22}>; rel="urn:ietf:params:push"$/);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('a push subscription needs a token with the scope, or else 401 or 403', async () => {
    expect((await push.ask('POST', '/push/subscribe')).status).toBe(401);
    const other = push.ask('POST', '/push/subscribe', {
      headers: { authorization: `Bearer ${await push.token('mallory')}x` },
    });
    expect((await other).status).toBe(401);
  });

  test('a push subscription needs a token of a person: the token of a client alone is 403', async () => {
    const { stores } = push;
    const before = await stores.push.subscriptionsOf('agent');
    const machine = push.machineToken();
    const headers = { authorization: `Bearer ${machine}` };
    const { status, text } = await push.ask('POST', '/push/subscribe', { headers });
    expect(status).toBe(403);
    expect(text).toContain('token that a person allowed');
    expect(await stores.push.subscriptionsOf('agent')).toEqual(before);
  });

  test('section 4.1: a push subscription to a set is 400, since sets are not supported', async () => {
    const headers = {
      authorization: `Bearer ${await push.token()}`,
      link: '</push/set/AAAAAAAAAAAAAAAAAAAAAA>; rel="urn:ietf:params:push:set"',
    };
    expect((await push.ask('POST', '/push/subscribe', { headers })).status).toBe(400);
  });

  test('a token that is revoked while the options arrive makes no push subscription', async () => {
    const token = await push.token('slowly');
    const { jti } = decodeJwt(token);
    const { status } = await sendSlowly(
      {
        url: `http://127.0.0.1:${push.listening.port}/push/subscribe`,
        headers: {
          host: 'push.example',
          authorization: `Bearer ${token}`,
          'content-type': 'application/webpush-options+json',
        },
        content: Buffer.from(JSON.stringify({ vapid: push.key })),
      },
      async () => {
        push.clock.advance(2);
        await push.stores.revocations.revoke('token', jti ?? '', push.clock.now() + 600_000);
      },
    );
    expect(status).toBe(403);
    expect(await push.stores.push.subscriptionsOf('slowly')).toEqual([]);
  });

  test('a person has at most 50 push subscriptions, and a deleted one makes room', async () => {
    const made: string[] = [];
    for (let n = 0; n < 50; n += 1) {
      made.push((await push.subscribed(undefined, 'collector')).subscription);
    }
    const refused = await push.subscribe(undefined, 'collector');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await push.ask('DELETE', made[7] ?? '')).status).toBe(204);
    expect((await push.subscribe(undefined, 'collector')).status).toBe(201);
  });

  test.each([
    ['no JSON', '{', 400],
    ['a member twice', '{"more":7,"more":7}', 400],
    ['no object', '[]', 400],
    ['an invalid key', '{"vapid":"AAAA"}', 400],
    ['a key that is no text', '{"vapid":7}', 400],
    ['unknown members', '{"more":7}', 201],
    ['too much', JSON.stringify({ more: 'x'.repeat(5000) }), 413],
  ])('push subscription options with %s get the right status', async (_what, body, status) => {
    const headers = {
      authorization: `Bearer ${await push.token('chooser')}`,
      'content-type': 'application/webpush-options+json',
    };
    expect((await push.ask('POST', '/push/subscribe', { headers, body })).status).toBe(status);
  });

  test.each([{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }])(
    'RFC 8292 section 4.1: content of another type is ignored: %j',
    async (type) => {
      const headers = { authorization: `Bearer ${await push.token('ignored')}`, ...type };
      for (const body of [JSON.stringify({ vapid: push.key }), '{', 'x'.repeat(100_000)]) {
        const made = await push.ask('POST', '/push/subscribe', { headers, body });
        expect(made.status).toBe(201);
        expect((await push.send(linkOf(made))).status).toBe(201);
      }
    },
  );

  test('a push subscription ends with its grant: 404, and nothing is left in the store', async () => {
    const { subscription, push: resource } = await push.subscribed(undefined, 'leaver');
    const message = pathOf((await push.send(resource)).headers.location);
    await push.stores.artefacts.remove('Access', 'grant of leaver');
    expect((await push.ask('GET', message)).status).toBe(404);
    expect((await push.send(resource)).status).toBe(404);
    expect((await push.ask('GET', subscription, events)).status).toBe(404);
    expect(await push.stores.push.subscriptionsOf('leaver')).toEqual([]);
  });
});

const events = { headers: { accept: 'text/event-stream' } };

describe('subscriptions that nobody uses', () => {
  test('the sweep removes push subscriptions whose grant has ended, and no others', async () => {
    for (let n = 0; n < 3; n += 1) await push.subscribed(undefined, 'sleeper');
    const { subscription } = await push.subscribed(undefined, 'stayer');
    const sweep = push.server.chores.find(({ name }) => name === 'sweep.push');
    await push.stores.artefacts.remove('Access', 'grant of sleeper');
    expect(await push.stores.push.subscriptionsOf('sleeper')).toHaveLength(3);
    await sweep?.run();
    expect(await push.stores.push.subscriptionsOf('sleeper')).toEqual([]);
    expect((await push.ask('HEAD', subscription)).status).toBe(200);
  });
});

describe('RFC 8030 section 5: a message', () => {
  test('a push message is accepted with 201, its URL and the TTL, and is read at its URL without its private fields', async () => {
    const { push: resource } = await push.subscribed();
    const headers = {
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      topic: 'weather',
      urgency: 'high',
      authorization: push.vapid(),
    };
    const sent = await push.send(resource, { headers, body: Buffer.from([0, 255, 7]) });
    expect(sent.status).toBe(201);
    expect(sent.headers['ttl']).toBe('60');
    expect(sent.headers.location).toMatch(/^https:\/\/push\.example\/push\/message\/[\w-]{22}$/);
    const got = await push.ask('GET', pathOf(sent.headers.location));
    expect(got.status).toBe(200);
    expect(got.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      'content-length': '3',
      'last-modified': new Date(push.now() * 1000).toUTCString(),
    });
    const raw = got.raw.join('\n').toLowerCase();
    for (const secret of ['weather', 'high', 'urgency', 'topic', push.key.toLowerCase()]) {
      expect(raw).not.toContain(secret);
    }
  });

  test('browsers do not run a push message: HTML is sandboxed, and its type is not guessed', async () => {
    const { push: resource } = await push.subscribed();
    const headers = { 'content-type': 'text/html' };
    const sent = await push.send(resource, { headers, body: '<form action=https://evil.example>' });
    const got = await push.ask('GET', pathOf(sent.headers.location));
    expect(got.headers['content-type']).toBe('text/html');
    expect(got.raw.filter((name) => name === 'Content-Security-Policy')).toHaveLength(1);
    expect(got.headers['content-security-policy']).toContain('sandbox');
    expect(got.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each([
    ['no TTL', { ttl: [] }],
    ['a TTL that is no number', { ttl: '1.5' }],
    ['a negative TTL', { ttl: '-1' }],
    ['two TTLs', { ttl: ['1', '2'] }],
    ['an empty Topic', { topic: '' }],
    ['a Topic of 33 characters', { topic: 'x'.repeat(33) }],
    ['a Topic beyond base64url', { topic: 'a.b' }],
    ['two Topics', { topic: ['a', 'b'] }],
    ['an unknown Urgency', { urgency: 'now' }],
    ['several Urgencies', { urgency: 'low, high' }],
    ['two Urgencies', { urgency: ['low', 'high'] }],
    ['an invalid Content-Type', { 'content-type': 'text' }],
    ['an invalid Content-Encoding', { 'content-encoding': 'a"b' }],
  ])('a push message with %s is 400, and not stored', async (_what, headers) => {
    const { subscription, push: resource } = await push.subscribed(undefined, 'strict');
    const { ttl = '60', ...rest } = headers as Record<string, string | string[]>;
    const sent = await push.ask('POST', resource, { headers: { ...rest, ttl }, body: 'sealed' });
    expect(sent.status).toBe(400);
    const id = subscription.split('/').at(-1) ?? '';
    expect(await push.stores.push.messages(id, 0, 'very-low', 10)).toEqual([]);
    await push.ask('DELETE', subscription);
  });

  test('section 5.2: a TTL of years is shortened, and the answer gives the new TTL', async () => {
    const { push: resource } = await push.subscribed();
    const sent = await push.send(resource, { headers: { ttl: '99999999999999999999' } });
    expect(sent.status).toBe(201);
    expect(sent.headers['ttl']).toBe(String(28 * 86_400));
  });

  test('section 7.2: a push message of 4096 octets is accepted, and one octet more is 413', async () => {
    const { push: resource } = await push.subscribed();
    const body = Buffer.alloc(4096);
    expect((await push.send(resource, { body })).status).toBe(201);
    expect((await push.send(resource, { body: Buffer.alloc(4097) })).status).toBe(413);
  });

  test('the 101st waiting push message is 429 with Retry-After', async () => {
    const { push: resource } = await push.subscribed(undefined, 'popular');
    for (let n = 0; n < 100; n += 1) expect((await push.send(resource)).status).toBe(201);
    push.clock.advance(10); // the rate limit of the subscription has room again, and its messages still wait
    const refused = await push.send(resource);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    expect(refused.text).toContain('100 messages wait');
  });

  test('section 6.2: DELETE acknowledges a push message, and a second DELETE is 404', async () => {
    const { push: resource } = await push.subscribed();
    const message = pathOf((await push.send(resource)).headers.location);
    expect((await push.ask('DELETE', message)).status).toBe(204);
    expect((await push.ask('DELETE', message)).status).toBe(404);
    expect((await push.ask('GET', message)).status).toBe(404);
  });

  test('section 5.4: a push message replaces an earlier message with the same topic', async () => {
    const { push: resource } = await push.subscribed();
    const headers = { topic: 'news' };
    const first = pathOf((await push.send(resource, { headers })).headers.location);
    const second = pathOf((await push.send(resource, { headers })).headers.location);
    expect((await push.ask('GET', first)).status).toBe(404);
    expect((await push.ask('GET', second)).status).toBe(200);
  });
});

describe('RFC 8030 section 5.1: receipts', () => {
  const asked = { headers: { prefer: 'respond-async' } };

  test('a push message that requests a receipt is 202 with the receipt subscription, which a later message may name', async () => {
    const { push: resource } = await push.subscribed();
    const first = await push.send(resource, asked);
    expect(first.status).toBe(202);
    expect(first.headers.location).toContain('/push/message/');
    const receipts = linkOf(first);
    expect(receipts).toMatch(/^\/push\/receipts\/[\w-]{22}$/);
    for (const link of [receipts, ORIGIN + receipts]) {
      const headers = { ...asked.headers, link: `<${link}>; rel="urn:ietf:params:push:receipt"` };
      const next = await push.send(resource, { headers });
      expect(next.status).toBe(202);
      expect(linkOf(next)).toBe(receipts);
    }
  });

  test.each([
    ['does not exist', '</push/receipts/AAAAAAAAAAAAAAAAAAAAAA>'],
    ['is of another server', '<https://other.example/push/receipts/AAAAAAAAAAAAAAAAAAAAAA>'],
    ['is a push resource', '</push/push/AAAAAAAAAAAAAAAAAAAAAA>'],
  ])('a push message that names a receipt subscription that %s is 400', async (_what, link) => {
    const { push: resource } = await push.subscribed();
    const headers = { ...asked.headers, link: `${link}; rel="urn:ietf:params:push:receipt"` };
    expect((await push.send(resource, { headers })).status).toBe(400);
  });

  test('a push resource creates ten receipt subscriptions, and more are 429', async () => {
    const { push: resource } = await push.subscribed();
    for (let n = 0; n < 10; n += 1) expect((await push.send(resource, asked)).status).toBe(202);
    expect((await push.send(resource, asked)).status).toBe(429);
  });
});

test('section 5.1: a refused message leaves no receipt subscription', async () => {
  const { push: resource } = await push.subscribed(undefined, 'crowded');
  for (let n = 0; n < 100; n += 1) await push.send(resource);
  push.clock.advance(30); // the rate limit has room, and the messages still wait
  const asked = { headers: { prefer: 'respond-async' } };
  for (let n = 0; n < 10; n += 1) expect((await push.send(resource, asked)).status).toBe(429);
  push.clock.advance(31); // the messages have expired; ten receipt subscriptions would still exist
  expect((await push.send(resource, asked)).status).toBe(202);
});

test('section 7.3: a push message is 404 if the grant is revoked while it arrives', async () => {
  const { subscription, push: resource } = await push.subscribed(undefined, 'slow');
  const request = http.request({
    host: '127.0.0.1',
    port: push.port,
    path: resource,
    method: 'POST',
    headers: { ttl: '60', 'content-length': '6' },
  });
  request.write('sea');
  await push.stores.revocations.revoke('grant', 'grant of slow', push.now() * 1000 + 3.6e6);
  request.end('led');
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(answer.resume().statusCode).toBe(404);
  const id = subscription.split('/').at(-1) ?? '';
  expect(await push.stores.push.messages(id, 0, 'very-low', 10)).toEqual([]);
});

test('a malformed push message does not count against the rate limit', async () => {
  const { push: resource } = await push.subscribed(undefined, 'clumsy');
  for (let n = 0; n < 101; n += 1) {
    expect((await push.send(resource, { headers: { ttl: 'abc' } })).status).toBe(400);
  }
  expect((await push.send(resource)).status).toBe(201);
});

describe('RFC 8292: a subscription that is restricted to a key', () => {
  test('a subscription restricted to a key accepts only its application server: 401 without credentials, 403 with invalid ones', async () => {
    const { push: resource } = await push.subscribed({ vapid: push.key });
    const sent = (authorization?: string) =>
      push.send(resource, { headers: authorization === undefined ? {} : { authorization } });
    expect((await sent(push.vapid())).status).toBe(201);
    const missing = await sent();
    expect(missing.status).toBe(401);
    expect(missing.headers['www-authenticate']).toBe('vapid');
    expect((await sent('Basic YTpi')).status).toBe(401);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    expect((await sent(push.vapid({ key: other }))).status).toBe(403);
    expect((await sent(push.vapid({ audience: 'https://other.example' }))).status).toBe(403);
    expect((await sent(push.vapid({ expires: push.now() - 1 }))).status).toBe(403);
    expect((await sent(push.vapid({ expires: push.now() + 86_402 }))).status).toBe(403);
    expect((await sent('WebPush abc')).status).toBe(403);
  });

  test('section 4.2: a subscription without a key accepts messages without vapid, and refuses invalid vapid', async () => {
    const { push: resource } = await push.subscribed();
    expect((await push.send(resource)).status).toBe(201);
    const headers = { authorization: push.vapid({ audience: 'https://other.example' }) };
    expect((await push.send(resource, { headers })).status).toBe(403);
  });

  test('section 3.2: a push message encrypted with the signing key is 400', async () => {
    const { push: resource } = await push.subscribed();
    const point = Buffer.from(push.key, 'base64url');
    const head = Buffer.concat([Buffer.alloc(20), Buffer.of(point.length), point]);
    const headers = { authorization: push.vapid(), 'content-encoding': 'aes128gcm' };
    const refused = await push.send(resource, { headers, body: Buffer.concat([head, head]) });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('one key for each');
  });
});

describe('addresses', () => {
  test('the id of a push resource is valid only in its own kind of address', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const message = pathOf((await push.send(resource)).headers.location);
    const [a, b, c] = [subscription, resource, message].map((path) => path.split('/').at(-1));
    for (const path of [
      `/push/subscription/${b}`,
      `/push/subscription/${c}`,
      `/push/message/${a}`,
      `/push/receipts/${a}`,
    ]) {
      expect((await push.ask('GET', path, events)).status).toBe(404);
    }
    for (const id of [a, c]) expect((await push.send(`/push/push/${id}`)).status).toBe(404);
    for (const odd of ['', 'x', `${a}x`, `${a}/more`, `${a}?x`, '__proto__', 'constructor']) {
      expect((await push.ask('GET', `/push/subscription/${odd}`, events)).status).toBe(404);
      expect((await push.ask('GET', `/push/${odd}`, events)).status).toBe(404);
    }
  });

  test('another method at a push address is 405, and OPTIONS names the methods', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const refused = await push.ask('GET', resource);
    expect(refused.status).toBe(405);
    expect(refused.headers.allow).toBe('OPTIONS, POST');
    const told = await push.ask('OPTIONS', subscription);
    expect(told.headers.allow).toBe('GET, HEAD, OPTIONS, DELETE');
  });

  test('no log line has a path below the space of a push service', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const message = pathOf((await push.send(resource)).headers.location);
    await push.ask('DELETE', message);
    await push.ask('GET', `${subscription}x`, events);
    for (const spelling of [
      message.replace('/push/', '/%70ush/'),
      message.replace('/push/', '/p%75sh/'),
      message.replace('/push/', '//push/'),
      message.replace('/push/', '/push//'),
      message.replace('/push/', '/x/../push/'),
      message.replace('/push/', '/PUSH/'),
      message.replace('/push/', '/push%2f'),
      message.replace('/push/', '/push;x/'),
      ORIGIN + message,
      `${message}?x`,
    ]) {
      await push.ask('GET', spelling);
    }
    const log = push.lines.join('\n');
    for (const path of [subscription, resource, message]) {
      expect(log).not.toContain(path.split('/').at(-1));
    }
    expect(log).toContain('"path":"/push/"');
  });
});

test('scripts of the origins in `cors` may read refusals and Retry-After', async () => {
  const { push: resource, subscription } = await push.subscribed();
  const headers = { origin: PAGE };
  const refused = [
    await push.send(resource, { headers: { ...headers, ttl: 'x' } }),
    await push.send(resource, { headers, body: 'x'.repeat(5000) }),
    await push.send(resource, { headers: { ...headers, authorization: 'vapid t=x, k=x' } }),
    await push.ask('GET', resource, { headers }),
    await push.ask('GET', subscription, { headers }),
    await push.ask('POST', '/push/subscribe', { headers }),
    await push.ask('DELETE', '/push/message/xxxxxxxxxxxxxxxxxxxxxx', { headers }),
    await push.ask('GET', '/push/nothing', { headers }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 413, 403, 405, 406, 401, 404, 404]);
  for (const { headers: answered } of [...refused, await push.send(resource, { headers })]) {
    expect(answered['access-control-allow-origin']).toBe(PAGE);
    expect(answered['access-control-expose-headers']).toMatch(/Retry-After.*TTL/);
    expect(answered.vary).toContain('Origin');
  }
  const [answer] = [await push.send(resource, { headers: { origin: 'https://other.example' } })];
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});
