import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { documentDestinations } from '#shared/client-documents/reach.ts';
import { configSchema } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { FAR, fresh } from '#shared/stores/contract/samples.ts';
import { testSite, type TestSite, WEB } from '../site.fixture.ts';
import { logoutChore } from '../../logout/logout-chore.ts';

/** Answers of an application to a logout token; `hangs` never answers. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  accepts: (response) => response.end(),
  'answers 204': (response) => response.writeHead(204).end(),
  'answers 400': (response) => response.writeHead(400).end(),
  'answers 500': (response) => response.writeHead(500).end(),
  'redirects to a URL that accepts': (response) =>
    response.writeHead(307, { location: '/accepts' }).end(),
  hangs: () => {},
  'sends content without an end': (response) => {
    const more = () => response.write(Buffer.alloc(65_536), (error) => error ?? more());
    more();
  },
};

const clock = new ManualClock(1_800_000_000_000);
let site: TestSite;
let events: string[] = [];
let told: string[] = [];
let chore: ReturnType<typeof logoutChore>;
const asked: string[] = [];
const open = { now: 0, most: 0 };
const application = createServer((request, response) => {
  asked.push(request.url ?? '');
  open.now += 1;
  open.most = Math.max(open.most, open.now);
  response.on('close', () => (open.now -= 1));
  request.resume();
  const [path = ''] = (request.url ?? '').slice(1).split('?');
  request.on('end', () => ANSWERS[decodeURIComponent(path)]?.(response));
});

beforeAll(async () => {
  site = await testSite({}, clock);
  await once(application.listen(0, '127.0.0.1'), 'listening');
  const { port } = application.address() as AddressInfo;
  for (const name of Object.keys(ANSWERS)) {
    const backchannel_logout_uri = `http://127.0.0.1:${port}/${encodeURIComponent(name)}`;
    await site.server.stores.clients.add({ ...WEB, client_id: name, backchannel_logout_uri });
  }
});
afterAll(async () => {
  application.closeAllConnections();
  application.close();
  await chore[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});
beforeEach(() => {
  const note = (event: string) => void events.push(event);
  events = [];
  told = [];
  asked.length = 0;
  const signingKeys = () => Promise.resolve(site.ring.current);
  chore = logoutChore(
    { ...site.server, signingKeys },
    { info: (event) => void told.push(event), warn: note, error: note },
  );
});

/** Ends a grant of an application. */
async function endOne(clientId: string): Promise<void> {
  const { artefacts, revocations } = site.server.stores;
  const grantId = fresh();
  const payload = { grantId, accountId: fresh(), clientId, uid: fresh() };
  await artefacts.put({ kind: 'Access', id: grantId, payload });
  await revocations.revoke('grant', grantId, FAR);
}

const isWaiting = async (clientId: string) =>
  (await site.server.stores.logouts.due(FAR)).includes(clientId);

const runUntil = (isDone: () => Promise<boolean> | boolean) =>
  eventually(async () => {
    await chore.run();
    if (!(await isDone())) throw new Error('not yet');
  });

/** Removes the logouts of an application. */
async function forget(clientId: string): Promise<void> {
  const { logouts } = site.server.stores;
  for (const { id } of await logouts.take(clientId, FAR, FAR, 1e6)) await logouts.remove(id);
}

describe('a logout token', () => {
  test.each(['accepts', 'answers 204'])('is sent once to an application that %s', async (name) => {
    await endOne(name);
    await runUntil(async () => !(await isWaiting(name)));
    expect(asked).toHaveLength(1);
    expect([told, events]).toEqual([['logout.told'], []]);
  });

  test.each(Object.keys(ANSWERS).slice(2))(
    'is sent again later to an application that %s, and the others do not wait for it',
    async (name) => {
      await endOne(name);
      await endOne('accepts');
      await runUntil(async () => !(await isWaiting('accepts')) && events.length > 0);
      expect(events).toEqual(['logout.postponed']);
      expect(await isWaiting(name)).toBe(true);
      expect(asked.filter((url) => url === '/accepts')).toHaveLength(1);
      await chore.run();
      expect(events).toHaveLength(1);
      clock.advance(1);
      await runUntil(() => events.length === 2);
      await forget(name);
    },
  );

  test('without `sid`, which an application refuses by 400, is not sent again', async () => {
    const { artefacts, revocations } = site.server.stores;
    const [grantId, accountId, uid] = [fresh(), fresh(), fresh()];
    const payload = { grantId, accountId, clientId: 'answers 400', uid };
    await artefacts.put({ kind: 'Access', id: grantId, payload });
    await revocations.raise('person', accountId, FAR);
    await runUntil(() => events.length === 1 && asked.length === 2);
    const { logouts } = site.server.stores;
    const [left, ...others] = await logouts.take('answers 400', FAR, FAR, 9);
    expect([left?.uid, others]).toEqual([uid, []]);
    await logouts.remove(left?.id ?? '');
  });

  test('the server sends a logout of a client with a document to public addresses at port 443 alone', async () => {
    const { stores } = site.server;
    const client_id = 'https://app.example/client.json';
    const accepts = await stores.clients.get('accepts');
    if (accepts === undefined) throw new Error('there is no such client');
    const document = { fetched: 0, until: FAR, changed: 0 };
    await stores.clients.add({ ...accepts, client_id, document });
    const production = configSchema.parse({ issuer: 'https://a.example' });
    const documentNetwork = {
      destinations: documentDestinations(production),
      resolve: () => Promise.resolve(['127.0.0.1']),
    };
    const signingKeys = () => Promise.resolve(site.ring.current);
    const reasons: unknown[] = [];
    chore = logoutChore(
      { ...site.server, documentNetwork, signingKeys },
      { ...silentLog, warn: (_, { reason } = {}) => void reasons.push(reason) },
    );
    for (const url of ['https://app.example/logout', 'https://app.example:8443/logout']) {
      await stores.clients.replace({
        ...accepts,
        client_id,
        document,
        backchannel_logout_uri: url,
      });
      await endOne(client_id);
      reasons.length = 0;
      await runUntil(() => reasons.length === 1);
      expect(reasons).toEqual([expect.stringContaining('the configuration does not permit it')]);
      await forget(client_id);
    }
    await stores.clients.replace({ ...accepts, client_id, document });
    await endOne(client_id);
    await endOne('accepts');
    await runUntil(() => reasons.length === 2 && asked.length === 1);
    expect(asked).toEqual(['/accepts']);
    await forget(client_id);
  });

  test('is given up 24 hours after the end', async () => {
    await endOne('answers 500');
    clock.advance(86_400);
    await runUntil(async () => !(await isWaiting('answers 500')));
    expect(events).toEqual(['logout.given-up']);
  });

  test('is sent by a later process if a process was killed between taking and sending', async () => {
    await endOne('accepts');
    const { logouts } = site.server.stores;
    await logouts.take('accepts', clock.now(), clock.now() + 10_000, 9);
    await chore.run();
    expect(asked).toEqual([]);
    clock.advance(10);
    await runUntil(async () => !(await isWaiting('accepts')));
    expect(asked).toHaveLength(1);
  });
});

test('an application that an operator registered does not wait for many that describe themselves and hang', async () => {
  const { stores } = site.server;
  const hangs = await stores.clients.get('hangs');
  const document = { fetched: 0, until: FAR, changed: 0 };
  const ids = Array.from({ length: 40 }, (_, n) => `https://app.example/${n}.json`);
  for (const client_id of ids) {
    await stores.clients.add({ ...hangs!, client_id, document });
    await endOne(client_id);
  }
  const documentNetwork = {
    destinations: { concerning: () => () => true },
    resolve: () => Promise.resolve(['127.0.0.1']),
  };
  const signingKeys = () => Promise.resolve(site.ring.current);
  chore = logoutChore({ ...site.server, documentNetwork, signingKeys }, silentLog);
  open.most = 0;
  await chore.run();
  await endOne('accepts');
  await chore.run();
  await eventually(() => expect(asked).toContain('/accepts'));
  expect(open.most).toBeLessThanOrEqual(17);
  await chore[Symbol.asyncDispose]();
  for (const id of ids) await forget(id);
});

describe('many logouts of one application', () => {
  test('two requests at a time are sent', async () => {
    for (let n = 0; n < 50; n += 1) await endOne('accepts');
    open.most = 0;
    await runUntil(async () => !(await isWaiting('accepts')));
    expect(asked).toHaveLength(50);
    expect(open.most).toBeLessThanOrEqual(2);
  });

  test('after five failures in a row the application gets one attempt a minute', async () => {
    for (let n = 0; n < 20; n += 1) await endOne('answers 500');
    // Three pairs fail.
    await runUntil(() => events.length === 6);
    await chore.run();
    expect(asked).toHaveLength(6);
    clock.advance(60);
    await runUntil(() => events.length === 7);
    await chore.run();
    expect(asked).toHaveLength(7);
    await forget('answers 500');
  });

  test('those of sessions that it does not know delay no other, unless it refuses all', async () => {
    for (let n = 0; n < 300; n += 1) await endOne('answers 400');
    await runUntil(() => events.length >= 250);
    await eventually(() => expect(open.now).toBe(0));
    await chore.run();
    expect(asked.length).toBeLessThan(255);
    clock.advance(60);
    await runUntil(() => asked.length === events.length && events.length > 250);
    await forget('answers 400');
  });

  test('one attempt a minute goes on if the clock is set back', async () => {
    for (let n = 0; n < 10; n += 1) await endOne('answers 500');
    await runUntil(() => events.length === 6);
    clock.set(-86_400);
    clock.advance(60);
    await runUntil(() => events.length === 7);
    await forget('answers 500');
    clock.set(86_400);
  });

  test('after 24 hours those of an application that fails are all given up', async () => {
    for (let n = 0; n < 60; n += 1) await endOne('answers 500');
    await runUntil(() => events.length === 6);
    clock.advance(86_401);
    await endOne('answers 500');
    await runUntil(() => events.filter((event) => event === 'logout.given-up').length === 60);
    const { logouts } = site.server.stores;
    expect(await logouts.take('answers 500', FAR, FAR, 99)).toHaveLength(1);
    await forget('answers 500');
  });
});

describe('many logouts of many applications', () => {
  /** More applications than the server turns to at a time. */
  const names = Array.from({ length: 40 }, (_, n) => `accepts?${n}`);
  const MOST = 32;
  const OF_EACH = 20;

  test('each gets its turn while one hangs, and the server asks the store for two logouts at a time', async () => {
    const { clients, logouts, ...others } = site.server.stores;
    const accepts = await clients.get('accepts');
    if (accepts === undefined) throw new Error('there is no such client');
    for (const [n, client_id] of names.entries()) {
      const backchannel_logout_uri = `${accepts['backchannel_logout_uri']}?${n}`;
      await clients.add({ ...accepts, client_id, backchannel_logout_uri });
    }
    for (let n = 0; n < OF_EACH; n += 1) await Promise.all([...names, 'hangs'].map(endOne));
    let [runs, looks, takes] = [0, 0, 0];
    const counts: number[] = [];
    const counted: typeof logouts = {
      ...logouts,
      due: (...args) => ((looks += 1), logouts.due(...args)),
      take: (...args) => ((takes += 1), counts.push(args[3]), logouts.take(...args)),
    };
    const signingKeys = () => Promise.resolve(site.ring.current);
    const stores = { ...others, clients, logouts: counted };
    chore = logoutChore({ ...site.server, stores, signingKeys }, silentLog);
    open.most = 0;
    const hasHeard = (name: string) => asked.includes(`/${name}`);
    let firstDone: readonly boolean[] | undefined;
    await eventually(async () => {
      runs += 1;
      await chore.run();
      const heard = names.map((name) => asked.filter((url) => url === `/${name}`).length);
      if (heard.some((count) => count === OF_EACH)) firstDone ??= names.map(hasHeard);
      if (heard.some((count) => count < OF_EACH)) throw new Error('not yet');
    });
    expect(firstDone?.every(Boolean)).toBe(true);
    expect(asked).toHaveLength(
      names.length * OF_EACH + asked.filter((url) => url === '/hangs').length,
    );
    expect(await isWaiting('hangs')).toBe(true);
    expect(open.most).toBeLessThanOrEqual(2 * MOST);
    expect(looks).toBe(runs);
    expect(Math.max(...counts)).toBe(2);
    // Each application also has takes that find no more.
    expect(takes).toBeLessThanOrEqual((names.length * OF_EACH) / 2 + names.length + runs);
    await forget('hangs');
  });
});
