import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeOpen } from '#shared/audit/close.ts';
import { systemClock } from '#shared/base/clock.ts';
import { macKey } from '#shared/audit/mac.ts';
import { writeReport } from '#shared/stores/cache/reports.ts';
import { type TestAdmin, testAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
beforeEach(async () => (admin = await testAdmin()));
afterEach(async () => admin.authz[Symbol.asyncDispose]());

/** Adds the latest events to the audit log, as the server does each second. */
const close = async () => {
  const { stores, master } = admin.authz;
  await closeOpen({ audit: stores.audit, key: macKey(master), clock: systemClock });
};

test('the activity is listed newest first, in pages, with the names of people who still exist', async () => {
  for (const name of ['anna', 'berta']) {
    await admin.change('user-add', { name }).expect(200);
    await admin.change('user-disable', { name }).expect(200);
  }
  const annas = String((await admin.authz.stores.people.getByName('anna'))?.id);
  await admin.change('user-remove', { name: 'berta' }).expect(200);
  await close();
  const first = await admin.read('audit-list?limit=3');
  expect(first.body.items).toHaveLength(3);
  const places = first.body.items.map(({ seq }: { seq: number }) => seq);
  expect(places).toEqual(places.toSorted((a: number, b: number) => b - a));
  expect(first.body.items[0]).toMatchObject({
    kind: 'person.removed',
    who: { client: 'admin' },
    how: 'http',
  });
  const second = await admin.read(`audit-list?limit=3&after=${first.body.next}`);
  expect(second.body.items[0].seq).toBeLessThan(places.at(-1));
  const { body } = await admin.read(`audit-list?person=${annas}&kind=person.disabled`);
  expect(body.items).toMatchObject([{ kind: 'person.disabled', person: annas }]);
  expect(body.names).toEqual({ [annas]: 'anna' });
  expect(Object.keys(body.client_names)).toEqual(['admin']);
  expect(JSON.stringify([first.body, second.body])).not.toContain('berta');
});

test.each([
  [{ admin: true }, {}, 'admin given'],
  [{ without: ['admin'] }, { admin: true }, 'admin taken'],
  [{ admin: false }, { admin: true }, 'admin taken'],
  [{ locale: 'de' }, {}, 'profile'],
  [{ without: ['locale'] }, { locale: 'de' }, 'profile'],
  [{ locale: 'de', admin: true }, {}, 'profile, admin given'],
  [{ without: ['locale', 'admin'] }, { locale: 'de', admin: true }, 'profile, admin taken'],
])('user-set of %j after %j records a change of: %s', async (change, before, what) => {
  await admin.change('user-add', { name: 'anna' }).expect(200);
  if (Object.keys(before).length > 0) {
    await admin.change('user-set', { name: 'anna', ...before }).expect(200);
  }
  await admin.change('user-set', { name: 'anna', ...change }).expect(200);
  await close();
  const { body } = await admin.read('audit-list?kind=person.changed&limit=1');
  expect(body.items).toMatchObject([{ what }]);
  // A repeated change does nothing, even if it is sent ten times at the same time.
  const again = { name: 'anna', ...change };
  await Promise.all(Array.from({ length: 10 }, () => admin.change('user-set', again).expect(200)));
  await close();
  const { body: after } = await admin.read('audit-list?kind=person.changed&limit=1');
  expect(after.items).toEqual(body.items);
});

test.each([
  'since=yesterday',
  'until=2026-13-01',
  'kind=no.kind',
  'after=x',
  'after=-1',
  'after=99999999999999999999',
  `person=${'x'.repeat(513)}`,
  'since=1h&since=2h',
  'other=1',
])('the filter %s of the activity is refused', async (query) => {
  const { status, body } = await admin.read(`audit-list?${query}`);
  expect([status, body.path]).toEqual([422, `/${query.split('=')[0]}`]);
});

test('a running process is listed with its version, and a report about caches is not listed', async () => {
  const report = {
    server: 'resource',
    version: '9.9.9',
    worker: 2,
    since: 7,
    ready: true,
  } as const;
  const { cacheReports } = admin.authz.stores;
  const at = systemClock.now();
  await cacheReports.put('b', writeReport({ ...report, at }));
  await cacheReports.put('a', writeReport({ ...report, at, server: 'authz', worker: 1 }));
  await cacheReports.put('c', '[]');
  await cacheReports.put('d', '{"server":"other","version":1}');
  const { body } = await admin.read('server-status').expect(200);
  expect(body).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(body.processes).toEqual([
    { process: 'a', ...report, server: 'authz', worker: 1, state: 'ready', heard_at: at },
    { process: 'b', ...report, state: 'ready', heard_at: at },
  ]);
});
