import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { linkOf, ORIGIN, pathOf, startPush, type TestPush } from './push.fixture.ts';
import { eventsAt, pushesAt, until } from './waiters.fixture.ts';

let push: TestPush;
beforeAll(async () => {
  push = await startPush();
});
afterAll(() => push[Symbol.asyncDispose]());

const sent = async (resource: string, headers = {}, body = 'sealed') =>
  pathOf((await push.send(resource, { headers, body })).headers.location);

describe('a user agent that waits for events', () => {
  test('a waiting user agent gets each message once as an event, with its URL, type, coding and body', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const headers = { 'content-encoding': 'aes128gcm', 'content-type': 'text/plain', topic: 't' };
    const first = await sent(resource, headers, 'one');
    const waiter = await eventsAt(push.port, subscription);
    expect(waiter.response.headers['content-type']).toBe('text/event-stream');
    expect(waiter.response.headers['cache-control']).toBe('no-store');
    const second = await sent(resource, {}, 'two');
    await until(() => waiter.events().length === 2);
    expect(waiter.events()).toEqual([
      {
        event: 'message',
        data: {
          url: ORIGIN + first,
          type: 'text/plain',
          coding: 'aes128gcm',
          body: Buffer.from('one').toString('base64url'),
        },
      },
      {
        event: 'message',
        data: { url: ORIGIN + second, body: Buffer.from('two').toString('base64url') },
      },
    ]);
    waiter.leave();
  });

  test('a waiting user agent gets again the messages that it has not acknowledged, and no others', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const [first, second] = [await sent(resource), await sent(resource)];
    const before = await eventsAt(push.port, subscription);
    await until(() => before.events().length === 2);
    before.leave();
    await push.ask('DELETE', first);
    const after = await eventsAt(push.port, subscription, { prefer: 'wait=0' });
    await after.ended;
    expect(after.events().map(({ data }) => data['url'])).toEqual([ORIGIN + second]);
  });

  test('section 5.3: a waiting user agent gets no message less urgent than it requests', async () => {
    const { subscription, push: resource } = await push.subscribed();
    for (const urgency of ['very-low', 'low', 'normal', 'high']) await sent(resource, { urgency });
    const waiter = await eventsAt(push.port, subscription, { urgency: 'normal', prefer: 'wait=0' });
    await waiter.ended;
    expect(waiter.events()).toHaveLength(2);
    const wrong = await eventsAt(push.port, subscription, { urgency: 'now' });
    expect(wrong.response.statusCode).toBe(400);
  });

  test('section 5.2: a push message with TTL 0 is delivered at once or never', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const waiter = await eventsAt(push.port, subscription);
    await sent(resource, { ttl: '0' });
    await until(() => waiter.events().length === 1);
    waiter.leave();
    push.clock.advance(2);
    const late = await eventsAt(push.port, subscription, { prefer: 'wait=0' });
    await late.ended;
    expect(late.events()).toEqual([]);
  });

  test.each([
    ['the subscription is deleted', (path: string) => push.ask('DELETE', path)],
    [
      'its grant expires',
      () => push.stores.artefacts.remove('Access', 'grant of ender').then(() => undefined),
    ],
  ])('the wait of a user agent ends when %s, and a new wait is 404', async (_what, end) => {
    const { subscription } = await push.subscribed(undefined, 'ender');
    const waiter = await eventsAt(push.port, subscription);
    await end(subscription);
    await waiter.ended;
    expect(waiter.response.complete).toBe(true);
    expect((await eventsAt(push.port, subscription)).response.statusCode).toBe(404);
  });

  test("a waiting user agent gets no more messages after its grant is revoked, even if the grant's record is still there", async () => {
    const { subscription, push: resource } = await push.subscribed(undefined, 'revoked');
    const waiter = await eventsAt(push.port, subscription);
    await push.stores.revocations.revoke('grant', 'grant of revoked', push.now() * 1000 + 3.6e6);
    await waiter.ended;
    expect((await push.send(resource)).status).toBe(404);
    expect(await push.stores.push.subscriptionsOf('revoked')).toEqual([]);
  });

  test('the fifth wait at one subscription is 429, and a client that leaves makes room', async () => {
    const { subscription } = await push.subscribed();
    const waiters = [];
    for (let n = 0; n < 4; n += 1) waiters.push(await eventsAt(push.port, subscription));
    const fifth = await eventsAt(push.port, subscription);
    expect(fifth.response.statusCode).toBe(429);
    waiters[0]?.leave();
    await waiters[0]?.ended;
    const again = async () => (await eventsAt(push.port, subscription)).response;
    let status = (await again()).statusCode;
    while (status === 429) status = (await again()).statusCode;
    expect(status).toBe(200);
    for (const each of waiters) each.leave();
  });

  test('a wait with a malformed Prefer is 400, and does not count against the limit', async () => {
    const { subscription } = await push.subscribed();
    for (let n = 0; n < 5; n += 1) {
      const { response } = await eventsAt(push.port, subscription, { prefer: '"wait' });
      expect(response.statusCode).toBe(400);
    }
    expect((await push.ask('HEAD', subscription)).status).toBe(200);
    const waiter = await eventsAt(push.port, subscription);
    expect(waiter.response.statusCode).toBe(200);
    waiter.leave();
  });

  test('a client that half-closes its connection at once does not count against the limit', async () => {
    const { subscription } = await push.subscribed();
    const request = `GET ${subscription} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`;
    const half = Array.from({ length: 4 }, () => {
      const socket = connect({ port: push.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.end(request);
      return socket.resume();
    });
    await Promise.all(half.map((socket) => once(socket, 'end')));
    const waiter = await eventsAt(push.port, subscription);
    expect(waiter.response.statusCode).toBe(200);
    waiter.leave();
  });

  test('a wait over HTTP/1.1 without Accept: text/event-stream is 406', async () => {
    const { subscription } = await push.subscribed();
    for (const accept of ['*/*', 'text/event-stream;q=0', 'application/json']) {
      const headers = { accept };
      expect((await push.ask('GET', subscription, { headers })).status).toBe(406);
    }
  });
});

describe('a user agent that waits for server push (RFC 8030 section 6)', () => {
  test('a user agent gets messages by server push, those before its wait and those during it', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const headers = { 'content-encoding': 'aes128gcm', urgency: 'high', topic: 'secret-topic' };
    const first = await sent(resource, headers, 'one');
    const waiter = pushesAt(push.port, subscription);
    await until(() => waiter.pushed.length === 1);
    const second = await sent(resource, {}, 'two');
    await until(() => waiter.pushed.length === 2);
    expect(waiter.pushed).toMatchObject([
      { path: first, status: 200, body: Buffer.from('one') },
      { path: second, status: 200, body: Buffer.from('two') },
    ]);
    const got = waiter.pushed[0]?.headers;
    expect(got?.['link']).toBe(`<${resource}>; rel="urn:ietf:params:push"`);
    expect(got?.['content-encoding']).toBe('aes128gcm');
    expect(JSON.stringify(got)).not.toMatch(/urgency|topic/);
    waiter.leave();
  });

  test('with Prefer: wait=0 a user agent gets all waiting messages and 200, or 204 without messages', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const nothing = pushesAt(push.port, subscription, { prefer: 'wait=0' });
    expect(await nothing.status).toBe(204);
    nothing.leave();
    const paths = [await sent(resource), await sent(resource), await sent(resource)];
    const waiter = pushesAt(push.port, subscription, { prefer: 'wait=0' });
    expect(await waiter.status).toBe(200);
    await until(() => waiter.pushed.length === 3);
    expect(waiter.pushed.map(({ path }) => path)).toEqual(paths);
    waiter.leave();
  });

  test.each([
    ['the subscription is deleted', (path: string) => push.ask('DELETE', path)],
    [
      'its grant is revoked',
      () => push.stores.revocations.revoke('grant', 'grant of pusher', push.now() * 1000 + 3.6e6),
    ],
  ])('section 7.3: a waiting user agent gets 404 when %s', async (_what, end) => {
    const { subscription, push: resource } = await push.subscribed(undefined, 'pusher');
    const waiter = pushesAt(push.port, subscription);
    await sent(resource);
    await until(() => waiter.pushed.length === 1);
    await end(subscription);
    expect(await waiter.status).toBe(404);
    waiter.leave();
  });

  test('a user agent with SETTINGS_ENABLE_PUSH 0 gets 406, or events if it requests them', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const none = pushesAt(push.port, subscription, {}, { enablePush: false });
    expect(await none.status).toBe(406);
    none.leave();
    await sent(resource);
    const headers = { accept: 'text/event-stream', prefer: 'wait=0' };
    const events = pushesAt(push.port, subscription, headers, { enablePush: false });
    expect(await events.status).toBe(200);
    events.leave();
  });

  test('a user agent that turns server push off during its wait gets 406 at the next message', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const waiter = pushesAt(push.port, subscription);
    await sent(resource);
    await until(() => waiter.pushed.length === 1);
    await new Promise<void>((resolve) =>
      waiter.session.settings({ enablePush: false }, () => resolve()),
    );
    await sent(resource);
    expect(await waiter.status).toBe(406);
    expect(waiter.pushed).toHaveLength(1);
    waiter.leave();
  });

  test('a user agent with MAX_CONCURRENT_STREAMS 0 gets no pushes, and its messages reach the next wait', async () => {
    const { subscription, push: resource } = await push.subscribed();
    for (let n = 0; n < 20; n += 1) await sent(resource);
    const waiter = pushesAt(push.port, subscription, {}, { maxConcurrentStreams: 0 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(waiter.pushed).toEqual([]);
    waiter.leave();
    const next = pushesAt(push.port, subscription, { prefer: 'wait=0' });
    expect(await next.status).toBe(200);
    await until(() => next.pushed.length === 20);
    next.leave();
  });

  test('a message whose push is refused is pushed again at the next wait', async () => {
    const { subscription, push: resource } = await push.subscribed();
    const waiter = pushesAt(push.port, subscription);
    waiter.session.prependListener('stream', (stream) => stream.close(8));
    await until(() => waiter.stream.id !== undefined);
    const message = await sent(resource);
    await new Promise((resolve) => setTimeout(resolve, 100));
    waiter.leave();
    const next = pushesAt(push.port, subscription, { prefer: 'wait=0' });
    await next.status;
    await until(() => next.pushed.length === 1);
    expect(next.pushed[0]?.path).toBe(message);
    next.leave();
  });
});

describe('an application server that waits for receipts (section 6.3)', () => {
  const asked = { prefer: 'respond-async' };

  test.each([
    ['acknowledged: 204', (message: string) => push.ask('DELETE', message), 204],
    ['lost with its subscription: 410', (_: string, end: string) => push.ask('DELETE', end), 410],
  ])(
    'an application server gets a receipt for a message that was %s',
    async (_what, happen, status) => {
      const { subscription, push: resource } = await push.subscribed();
      const reply = await push.send(resource, { headers: asked });
      const [message, receipts] = [pathOf(reply.headers.location), linkOf(reply)];
      const [events, pushes] = [await eventsAt(push.port, receipts), pushesAt(push.port, receipts)];
      await happen(message, subscription);
      await until(() => events.events().length + pushes.pushed.length > 0);
      for (const { data } of events.events())
        expect(data).toEqual({ url: ORIGIN + message, status });
      for (const one of pushes.pushed) expect(one).toMatchObject({ path: message, status });
      events.leave();
      pushes.leave();
      await until(() => events.response.destroyed);
      const later = await eventsAt(push.port, receipts, { prefer: 'wait=0' });
      await later.ended;
      expect(later.events()).toEqual([]);
    },
  );

  test('section 7.3: DELETE ends a receipt subscription: waits get 404, and messages that name it get 400', async () => {
    const { push: resource } = await push.subscribed();
    const reply = await push.send(resource, { headers: asked });
    const receipts = linkOf(reply);
    const [events, pushes] = [await eventsAt(push.port, receipts), pushesAt(push.port, receipts)];
    await until(() => pushes.stream.id !== undefined);
    expect((await push.ask('DELETE', receipts)).status).toBe(204);
    expect(await pushes.status).toBe(404);
    await events.ended;
    expect(events.response.complete).toBe(true);
    pushes.leave();
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const headers = { accept: 'text/event-stream' };
      expect((await push.ask(method, receipts, { headers })).status).toBe(404);
    }
    const headers = { link: `<${receipts}>; rel="urn:ietf:params:push:receipt"` };
    expect((await push.send(resource, { headers })).status).toBe(400);
    expect((await push.ask('DELETE', pathOf(reply.headers.location))).status).toBe(204);
  });

  test('a receipt whose push is refused reaches the next wait', async () => {
    const { push: resource } = await push.subscribed();
    const reply = await push.send(resource, { headers: asked });
    const refuser = pushesAt(push.port, linkOf(reply));
    let refused = 0;
    refuser.session.prependListener('stream', (stream) => {
      refused += 1;
      stream.on('error', () => {}).close(7);
    });
    await until(() => refuser.stream.id !== undefined);
    await push.ask('DELETE', pathOf(reply.headers.location));
    await until(() => refused === 1);
    refuser.leave();
    const next = pushesAt(push.port, linkOf(reply), { prefer: 'wait=0' });
    expect(await next.status).toBe(200);
    await until(() => next.pushed.length === 1);
    next.leave();
  });

  test('an application server that allows no streams gets no receipt, which reaches the next wait', async () => {
    const { push: resource } = await push.subscribed();
    const reply = await push.send(resource, { headers: asked });
    await push.ask('DELETE', pathOf(reply.headers.location));
    const none = { maxConcurrentStreams: 0 };
    const closed = pushesAt(push.port, linkOf(reply), { prefer: 'wait=0' }, none);
    expect(await closed.status).toBe(204);
    closed.leave();
    const next = pushesAt(push.port, linkOf(reply), { prefer: 'wait=0' });
    expect(await next.status).toBe(200);
    await until(() => next.pushed.length === 1);
    next.leave();
  });

  test('an application server gets receipts for messages that were acknowledged before its wait', async () => {
    const { push: resource } = await push.subscribed();
    const reply = await push.send(resource, { headers: asked });
    await push.ask('DELETE', pathOf(reply.headers.location));
    const later = pushesAt(push.port, linkOf(reply), { prefer: 'wait=0' });
    expect(await later.status).toBe(200);
    await until(() => later.pushed.length === 1);
    later.leave();
  });
});
