/** Attacks on the push service, at two processes on each store. */
import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import type { Received, Subscription } from '../clients/push/user-agent.ts';
import { STORE_KINDS, type StoreKind } from '../flows/flow.ts';
import { type PushAnswer, type PushPlace, requestOf, startPush } from '../flows/push-place.ts';
import { allStarted } from '../parts/process.ts';

const RECEIPT = { headers: { Prefer: 'respond-async' } };
const AT_ONCE = { prefer: 'wait=0' };

const places = new Map<StoreKind, PushPlace>();
const parts = new AsyncDisposableStack();

beforeAll(() =>
  allStarted(
    STORE_KINDS.map(async (kind) => {
      places.set(kind, parts.use(await startPush(kind, { resource: 2 })));
    }),
  ),
);
afterAll(async () => parts.disposeAsync());

function placeOn(kind: StoreKind): PushPlace {
  const place = places.get(kind);
  if (place === undefined) throw new Error(`nothing was started on ${kind}`);
  return place;
}

/** Calls a function `times` times at once, alternately for both servers. */
const flood = <T>(times: number, call: (server: number, n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, n) => call(n % 2, n)));

const countOf = (answers: readonly PushAnswer[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length;

async function waiting(place: PushPlace, subscription: Subscription): Promise<Received[]> {
  const messages: Received[] = [];
  const agent = place.agent();
  await agent.receive(subscription, (one) => messages.push(one), { fields: AT_ONCE, by: 'events' });
  agent.session.destroy();
  return messages;
}

const receiptsOf = ({ headers }: PushAnswer) =>
  /<([^>]*)>; rel="urn:ietf:params:push:receipt"/.exec(String(headers['link']))?.[1] ?? '';

/** Opens an event stream; resolves to its status once the answer begins. */
async function opened(session: http2.ClientHttp2Session, origin: string, path: string) {
  const { host } = new URL(origin);
  const fields = { ':authority': host, ':path': path, accept: 'text/event-stream' };
  const stream = session.request(fields);
  stream.on('error', () => {});
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return { stream, status: Number(answer[':status']) };
}

describe.each(STORE_KINDS)('the push service on %s', (kind) => {
  test('a URL with one changed character gets 404', async () => {
    const place = placeOn(kind);
    const agent = place.agent();
    const subscription = await agent.subscribe(await place.token());
    const sent = await place.send(requestOf(subscription, 'kept', RECEIPT));
    const receipts = new URL(receiptsOf(sent), place.origin).href;
    const other = (url: string) =>
      url.slice(0, -3) + (url.at(-3) === 'A' ? 'B' : 'A') + url.slice(-2);
    expect(await agent.remove(other(subscription.url))).toBe(404);
    expect(await agent.remove(other(String(sent.headers.location)))).toBe(404);
    expect(await agent.remove(other(receipts))).toBe(404);
    const elsewhere = { ...subscription, endpoint: other(subscription.endpoint) };
    expect((await place.send(requestOf(elsewhere, 'lost'))).status).toBe(404);
    expect((await waiting(place, subscription)).map(({ text }) => text)).toEqual(['kept']);
  });

  test('in a flood of messages, 100 are stored, and further ones get 429 with Retry-After', async () => {
    const place = placeOn(kind);
    const subscription = await place.agent().subscribe(await place.token());
    const answers = await flood(150, (server, n) =>
      place.send(requestOf(subscription, `${n}`), server),
    );
    const kept = countOf(answers, 201);
    expect(kept + countOf(answers, 429)).toBe(150);
    expect(kept).toBeGreaterThanOrEqual(99);
    expect(kept).toBeLessThanOrEqual(100);
    for (const { status, headers } of answers) {
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(await waiting(place, subscription)).toHaveLength(kept);
  });

  test('in a flood of subscriptions, a person gets 50, and another person is served', async () => {
    const place = placeOn(kind);
    const [token, another] = [await place.token(), await place.token()];
    const made = await flood(70, (server) =>
      place
        .agent(server)
        .subscribe(token)
        .then(
          () => 201,
          (error: Error) => Number(error.message.split(' ')[0]),
        ),
    );
    expect(made.filter((status) => status === 201)).toHaveLength(50);
    expect(made.filter((status) => status === 429)).toHaveLength(20);
    expect((await place.agent().subscribe(another)).url).toContain('/push/subscription/');
  });

  test('in a flood of receipt subscriptions, one push resource gets ten', async () => {
    const place = placeOn(kind);
    const subscription = await place.agent().subscribe(await place.token());
    const answers = await flood(30, (server, n) =>
      place.send(requestOf(subscription, `${n}`, RECEIPT), server),
    );
    expect([countOf(answers, 202), countOf(answers, 429)]).toEqual([10, 20]);
    const first = answers.find(({ status }) => status === 202);
    const link = `<${first && receiptsOf(first)}>; rel="urn:ietf:params:push:receipt"`;
    const named = { headers: { ...RECEIPT.headers, Link: link } };
    expect((await place.send(requestOf(subscription, 'named', named))).status).toBe(202);
  });

  test('in a flood of waiting clients, each process serves four and answers 429 to further ones', async () => {
    const place = placeOn(kind);
    const agents = [place.agent(0), place.agent(1)];
    const { url } = await place.agent().subscribe(await place.token());
    const all = await flood(20, async (server) =>
      opened(agents[server]!.session, place.origin, new URL(url).pathname),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(8);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(12);
    for (const { session } of agents) session.destroy();
  });

  test('ten messages with one topic at once leave one, and the waiting client has received this one last', async () => {
    const place = placeOn(kind);
    const agent = place.agent(1);
    const subscription = await agent.subscribe(await place.token());
    const came: string[] = [];
    void agent
      .receive(subscription, ({ text }) => came.push(text), { by: 'events' })
      .catch(() => {});
    for (let round = 0; round < 3; round += 1) {
      const answers = await flood(10, (server, n) =>
        place.send(requestOf(subscription, `${round} ${n}`, { topic: 'race' }), server),
      );
      expect(countOf(answers, 201)).toBe(10);
      const left = (await waiting(place, subscription)).map(({ text }) => text);
      expect(left).toHaveLength(1);
      await eventually(() => expect(came.at(-1)).toBe(left[0]));
      expect(new Set(came).size).toBe(came.length);
    }
    agent.session.destroy();
  });

  test('a client that never reads does not block a reader, and gets one message only', async () => {
    const place = placeOn(kind);
    const reader = place.agent(0);
    const subscription = await reader.subscribe(await place.token());
    const ca = place.ca;
    const deaf = http2.connect(place.flow.pair.resourcesTls[0] ?? '', {
      ca,
      settings: { initialWindowSize: 0 },
    });
    let promised = 0;
    deaf.on('error', () => {}).on('stream', () => (promised += 1));
    const { host } = new URL(place.origin);
    const path = new URL(subscription.url).pathname;
    deaf.request({ ':authority': host, ':path': path }).on('error', () => {});
    const came: string[] = [];
    void reader.receive(subscription, ({ text }) => came.push(text)).catch(() => {});
    await flood(60, (server, n) =>
      place.send(requestOf(subscription, `${n}`.padEnd(3000, ' ')), server),
    );
    await eventually(() => expect(came).toHaveLength(60));
    expect(promised).toBe(1);
    deaf.destroy();
    reader.session.destroy();
  });

  test('a receipt for a listener that has disconnected is kept for the next listener', async () => {
    const place = placeOn(kind);
    const agent = place.agent(0);
    const subscription = await agent.subscribe(await place.token());
    const sent = await place.send(requestOf(subscription, 'registered', RECEIPT));
    const gone = place.agent(1).session;
    expect((await opened(gone, place.origin, receiptsOf(sent))).status).toBe(200);
    gone.destroy();
    await once(gone, 'close');
    const { session } = place.agent(1);
    // The server has noticed the lost connection once it has served another.
    await once(
      (await opened(session, place.origin, '/push/receipts/none')).stream.resume(),
      'close',
    );
    expect(await agent.remove(String(sent.headers.location))).toBe(204);
    const { stream } = await opened(session, place.origin, receiptsOf(sent));
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const location = String(sent.headers.location);
    await eventually(() =>
      expect(text).toContain(`data: ${JSON.stringify({ url: location, status: 204 })}`),
    );
    session.destroy();
  });

  test("the application server's token, key and topic never reach the user agent or the log", async () => {
    const place = placeOn(kind);
    const subscription = await place.agent().subscribe(await place.token());
    const request = requestOf(subscription, 'hello', { topic: 'secret-topic', urgency: 'high' });
    const { status, headers } = await place.send(request);
    expect(status).toBe(201);
    const { session } = place.agent();
    const { host } = new URL(place.origin);
    const path = new URL(String(headers.location)).pathname;
    const stream = session.request({ ':authority': host, ':path': path }).resume();
    const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    const [, token = '', key = ''] =
      /t=([^,]+), ?k=(.+)/.exec(request.headers['Authorization'] ?? '') ?? [];
    const logs = place.flow.pair.resources.map(({ log }) => log).join('');
    for (const secret of [token, key, 'secret-topic', path.split('/').at(-1) ?? '']) {
      expect(secret.length).toBeGreaterThan(10);
      expect(JSON.stringify(answer)).not.toContain(secret);
      expect(logs).not.toContain(secret);
    }
    session.destroy();
  });
});
