/** @slow */
/** @needs psql redis-server */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { changeProfile } from '#shared/people/change-profile.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { startApplication, toldBy } from '../../authz-server/integration/pages/logouts.fixture.ts';
import { type Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { type Flow, startFlow } from './flow.ts';
import { accesses, App, newPerson, signedIn } from './person.ts';

const parts = new AsyncDisposableStack();
let shared: SharedStore;
let flow: Flow;
let application: Awaited<ReturnType<typeof startApplication>>;
let app: App;
beforeAll(async () => {
  shared = parts.use(await startSharedStore({ deadline: 2, appendonly: true }));
  flow = parts.use(await startFlow({ store: shared.store }));
  application = parts.use(await startApplication());
  const url = application.client.backchannel_logout_uri;
  app = await App.add(flow, '--logout-url', url, '--allow-group', 'staff');
});
afterAll(async () => parts[Symbol.asyncDispose]());

const store = () => ({ ...flow, clock: systemClock, longestLife: longestLife(flow.config) });
const ENDS: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
  'all of a person ends': ({ id }) => endEverything(store(), id),
  'a group is taken': ({ name }) =>
    changeProfile(store(), name, (person) => ({ ...person, profile: {} }), {
      kind: 'person.changed',
      what: 'profile',
    }),
};
const STORES = ['postgres', 'redis'] as const;

test.each(Object.keys(ENDS).flatMap((end) => STORES.map((hangs) => [end, hangs] as const)))(
  '%s while %s hangs: if it fails and is repeated, all has ended and the application is told',
  async (name, hangs) => {
    const end = ENDS[name] ?? (() => Promise.reject(new Error('no such end')));
    // The store hangs at another moment of the end each time.
    for (let before = 0; before < 3; before += 1) {
      const person = await newPerson(flow);
      await flow.pair.cli('user', 'set', person.name, '--group', 'staff');
      const browser = await signedIn(flow, person);
      const tokens = await app.tokens(browser, { scope: 'openid documents:read' });
      application.tokens.length = 0;
      const ending = Promise.allSettled([end(person)]);
      for (let tick = 0; tick < before * 4; tick += 1) await new Promise(setImmediate);
      await shared[hangs].hang();
      await ending;
      await shared[hangs].wake();
      const { issuer } = flow.pair;
      await until(async () => (await fetch(`${issuer}/health/ready`)).status === 200);
      await until(async () => (await Promise.allSettled([end(person)]))[0]?.status === 'fulfilled');
      await until(async () => (await flow.stores.logouts.backlog()).count === 0);
      expect(await accesses(flow, person)).toEqual([]);
      expect((await app.refresh(tokens.refresh)).status).toBe(400);
      expect(await flow.pair.get(tokens.access)).toBe(401);
      const sid = decodeJwt(tokens.id)['sid'];
      expect(toldBy(application.tokens)).toContainEqual({ sub: person.id, sid });
    }
  },
);
