import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { Received, Subscription } from '../clients/push/user-agent.ts';
import { allStarted } from '../parts/process.ts';
import { STORE_KINDS, type StoreKind } from './flow.ts';
import { APPLICATION, type OwnAgent, type PushPlace, requestOf, startPush } from './push-place.ts';

const AT_ONCE = { prefer: 'wait=0' };
const WAYS = ['events', 'push'] as const;
/** Seconds after which an idle connection is closed. */
const IDLE = 1;

const places = new Map<StoreKind, PushPlace>();
const parts = new AsyncDisposableStack();

beforeAll(() =>
  allStarted(
    STORE_KINDS.map(async (kind) => {
      const settings = { server: { idleTimeout: IDLE } };
      places.set(kind, parts.use(await startPush(kind, { resource: 2, settings })));
    }),
  ),
);
afterAll(async () => parts.disposeAsync());

/** User agents connect late, because getting a token takes longer than a connection may be idle. */
function placeOn(kind: StoreKind): PushPlace {
  const place = places.get(kind);
  if (place === undefined) throw new Error(`nothing was started on ${kind}`);
  return place;
}

/** Returns the messages that are stored for a user agent. */
async function waiting(agent: OwnAgent, subscription: Subscription): Promise<Received[]> {
  const messages: Received[] = [];
  await agent.receive(subscription, (one) => messages.push(one), { fields: AT_ONCE });
  return messages;
}

/**
 * Waits for a receipt, repeatedly if a busy server ends the wait. Resolves to the receipt's path and
 * status.
 */
async function receiptAt(place: PushPlace, receipts: string) {
  const { session } = place.agent(0);
  const came = Promise.withResolvers<{ readonly path: unknown; readonly status: unknown }>();
  // The answer may come in the same turn of the event loop as its promise.
  session.once('stream', (pushed: ClientHttp2Stream, { ':path': path }: IncomingHttpHeaders) => {
    pushed.once('push', ({ ':status': status }) => came.resolve({ path, status }));
  });
  for (;;) {
    const asked = { ':authority': new URL(place.origin).host, ':path': receipts };
    const over = once(session.request(asked).resume(), 'close').then(() => undefined);
    const receipt = await Promise.race([came.promise, over]);
    if (receipt !== undefined) return receipt;
  }
}

describe.each(STORE_KINDS)('two resource servers on %s', (kind) => {
  test.each(WAYS)('a message sent to one server arrives at the other, by %s', async (by) => {
    const place = placeOn(kind);
    const token = await place.token();
    const [one, other] = [place.agent(0), place.agent(1)];
    const subscription = await one.subscribe(token, APPLICATION.publicKey);
    const came: Received[] = [];
    const over = other.receive(subscription, (message) => came.push(message), { by });
    for (const text of ['first', 'second']) {
      expect((await place.send(requestOf(subscription, text), 0)).status).toBe(201);
      await eventually(() => expect(came.at(-1)?.text).toBe(text));
    }

    // The wait is longer than the idle timeout of a connection.
    await delay(IDLE * 2500);
    expect((await place.send(requestOf(subscription, 'third'), 0)).status).toBe(201);
    await eventually(() =>
      expect(came.map(({ text }) => text)).toEqual(['first', 'second', 'third']),
    );

    const again = place.agent(0);
    expect(await again.remove(came[0]?.url ?? '')).toBe(204);
    expect(await other.remove(came[0]?.url ?? '')).toBe(404);
    expect((await waiting(again, subscription)).map(({ text }) => text)).toEqual([
      'second',
      'third',
    ]);
    expect(await again.remove(subscription.url)).toBe(204);
    expect(await over).toBe(by === 'events' ? 200 : 404);
    expect((await place.send(requestOf(subscription, 'late'), 1)).status).toBe(404);
  });

  test('the application server learns at the other server that a message was delivered', async () => {
    const place = placeOn(kind);
    const token = await place.token();
    const subscription = await place.agent(1).subscribe(token);
    const request = requestOf(subscription, 'registered', {
      headers: { Prefer: 'respond-async' },
    });
    const { status, headers } = await place.send(request, 0);
    expect(status).toBe(202);
    const receipts = /<([^>]*)>; rel="urn:ietf:params:push:receipt"/.exec(
      String(headers['link']),
    )?.[1];
    const agent = place.agent(1);
    const [receipt] = await Promise.all([
      receiptAt(place, receipts ?? ''),
      waiting(agent, subscription).then(([message]) => agent.remove(message?.url ?? '')),
    ]);
    const { pathname } = new URL(String(headers.location));
    expect(receipt).toEqual({ path: pathname, status: 204 });
  });

  test('if a grant is revoked, its subscriptions end, and waiting clients are disconnected', async () => {
    const place = placeOn(kind);
    const { person, token } = await place.tokenOf();
    const [one, other] = [place.agent(0), place.agent(1)];
    const subscription = await one.subscribe(token);
    const came: string[] = [];
    const overs = WAYS.map((by) =>
      other.receive(subscription, ({ text }) => came.push(text), { by }),
    );
    await place.send(requestOf(subscription, 'before'), 0);
    await eventually(() => expect(came).toHaveLength(overs.length)); // both clients wait
    await place.flow.pair.cli('user', 'end', person.name);
    const [events, pushed] = await Promise.all(overs);
    expect(events).toBe(200);
    // A busy server that cannot check revocations in time ends the wait with 200, and the user agent tries
    // again.
    expect([200, 404]).toContain(pushed);
    for (const by of WAYS) {
      expect(await other.receive(subscription, () => {}, { by })).toBe(404);
    }
    expect((await place.send(requestOf(subscription, 'late'), 1)).status).toBe(404);
    expect(await place.agent(0).remove(subscription.url)).toBe(404);
  });

  test('SIGTERM ends waiting requests properly, and loses no message', async () => {
    const place = placeOn(kind);
    const token = await place.token();
    const agents = [place.agent(1), place.agent(1)];
    const subscription = await place.agent(0).subscribe(token);
    const came: string[] = [];
    const overs = agents.flatMap((agent) =>
      WAYS.map((by) => agent.receive(subscription, ({ text }) => came.push(text), { by })),
    );
    await place.send(requestOf(subscription, 'before'), 0);
    await eventually(() => expect(came).toHaveLength(overs.length));
    const [, server] = place.flow.pair.resources;
    await server?.kill('SIGTERM');
    expect(await Promise.all(overs)).toEqual([200, 200, 200, 200]);
    await server?.start();
    expect(await waiting(place.agent(1), subscription)).toHaveLength(1);
  });

  test('kill -9 loses no acknowledged message, and restores no deleted message', async () => {
    const place = placeOn(kind);
    const [, server] = place.flow.pair.resources;
    const token = await place.token();
    let deletions = 0;
    for (let kill = 0; kill < 4; kill += 1) {
      const agent = place.agent(1);
      const subscription = await place.agent(0).subscribe(token, APPLICATION.publicKey);
      const [kept, deleted] = [new Set<string>(), new Set<string>()];
      const work = async (turn: number) => {
        const { status, headers } = await place.send(requestOf(subscription, `${turn}`), 1);
        if (status !== 201) return;
        const url = String(headers.location);
        if (turn % 2 === 1) {
          kept.add(url);
        } else if ((await agent.remove(url)) === 204) {
          deleted.add(url);
        }
      };
      const workAll = async () => {
        for (let turn = 0; turn < 90; turn += 1) {
          // The server is down, or a busy machine has closed a connection.
          await work(turn).catch(() => {});
        }
      };
      const worked = workAll();
      await eventually(() => expect(kept.size).toBeGreaterThan(2 + 5 * kill));
      await server?.kill();
      await worked;
      await server?.start();
      const there = new Set((await waiting(place.agent(1), subscription)).map(({ url }) => url));
      expect([...kept].filter((url) => !there.has(url))).toEqual([]);
      expect([...deleted].filter((url) => there.has(url))).toEqual([]);
      deletions += deleted.size;
    }
    expect(deletions).toBeGreaterThan(0);
  });
});

test('if PostgreSQL pauses, waiting clients do not get 404, because their subscription still exists', async () => {
  await using own = new AsyncDisposableStack();
  const { store, postgres } = own.use(await startSharedStore({ deadline: 4 }));
  const place = own.use(await startPush('sqlite', { store }));
  const agent = place.agent();
  const subscription = await agent.subscribe(await place.token());
  const overs = WAYS.map((by) => agent.receive(subscription, () => {}, { by }));
  await delay(500);
  await postgres.hang();
  const statuses = await Promise.all(overs);
  await postgres.wake();
  expect(statuses).toEqual([200, 204]);
  await eventually(async () =>
    expect((await place.send(requestOf(subscription, 'after'))).status).toBe(201),
  );
  expect((await waiting(place.agent(), subscription)).map(({ text }) => text)).toEqual(['after']);
});
