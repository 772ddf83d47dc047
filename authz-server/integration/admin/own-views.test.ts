import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeOpen } from '#shared/audit/close.ts';
import { macKey } from '#shared/audit/mac.ts';
import { systemClock } from '#shared/base/clock.ts';
import { scopesOfSpaces } from '#shared/operations/clients/client-scopes.ts';
import { perform } from '#shared/operations/operation.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { recordAccess } from '#shared/people/access/grants.ts';
import { someApiKey, someClient } from '#shared/stores/contract/samples.ts';
import { writeReport } from '#shared/stores/cache/reports.ts';
import { houseOf } from '../../base/house.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { ALICE, BOB } from '../pages/at-consent.fixture.ts';
import { testSite, type TestSite } from '../site.fixture.ts';

let site: TestSite;
let browser: TestBrowser;
beforeEach(async () => {
  const often = { burst: 100_000, per: 1 };
  site = await testSite({ limits: { address: often, signIn: often } }, systemClock, true);
  await perform(setUser, { name: 'alice', admin: true }, houseOf(site.server));
  browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
});
afterEach(async () => site[Symbol.asyncDispose]());

const close = () =>
  closeOpen({
    audit: site.server.stores.audit,
    key: macKey(site.server.master),
    clock: systemClock,
  });

const WEB_NAME = 'Web &amp; &lt;b&gt;App&lt;/b&gt;';

const heading = ({ text }: Page) => /<h1>\s*(.*?)\s*<\/h1>/s.exec(text)?.[1];

/** The names of the fields that a page's form sends, without those that prove that it is our form. */
const whatIsSent = ({ forms: [form] }: Page) =>
  form?.fields
    .map(([name]) => name)
    .filter((name) => !['csrf', 'once'].includes(name))
    .toSorted();

const idOf = async (name: string) => (await site.server.stores.people.getByName(name))?.id;

test('the page of a person ends one sign-in of the person, after a page that says what will happen', async () => {
  const bobs = site.browser();
  await bobs.submit(await bobs.open('/account'), BOB);
  const shown = await browser.open('/admin/user-show?name=bob');
  expect(shown.text).toMatch(/<dt>Last seen<\/dt>/);
  const [, way = ''] =
    /href="(\/admin\/user-end\?name=bob&amp;sign_in=[^"]+)"/.exec(shown.text) ?? [];
  const asked = await browser.open(way.replaceAll('&amp;', '&'));
  expect(heading(asked)).toBe('End the sign-in of bob in Test Browser?');
  expect(whatIsSent(asked)).toEqual(['name', 'sign_in']);
  expect((await bobs.open('/account')).text).toContain('Signed in as');
  expect((await browser.submit(asked)).status).toBe(200);
  expect((await bobs.open('/account')).text).not.toContain('Signed in as');
  const after = await browser.open('/admin/user-show?name=bob');
  expect(after.text).not.toContain('sign_in=');
});

test('the page of a client lists its grants, and one ends after a page that says what will happen', async () => {
  const { stores, clock } = site.server;
  const clientGeneration = await stores.revocations.generation('client', 'web');
  const members = { clientId: 'web', generation: 0, clientGeneration, since: clock.now() };
  const givers = [await idOf('bob'), await idOf('bob'), '<i>gone</i>'];
  for (const [n, accountId = ''] of givers.entries()) {
    const device = { agent: '<b>TV</b>' };
    await recordAccess(site.server, { ...members, grantId: `grant-${n}`, accountId, device }, 900);
  }
  const ends = ({ text }: Page) =>
    [...text.matchAll(/href="(\/admin\/client-end\?client_id=web&amp;grant=[^"]+)"/g)].map(
      ([, way = '']) => way.replaceAll('&amp;', '&'),
    );
  for (const path of ['/admin/client-show?client_id=web', '/admin/client-access?client_id=web']) {
    const shown = await browser.open(path);
    expect(ends(shown)).toHaveLength(3);
    expect(shown.text).toContain('<a href="/admin/user-show?name=bob">bob</a>');
    expect(shown.text).toContain('&lt;i&gt;gone&lt;/i&gt;');
    expect(shown.text).not.toMatch(/<b>TV|<i>gone/);
    expect(shown.text).toContain('href="/admin/client-end?client_id=web"');
  }
  const [way = ''] = ends(await browser.open('/admin/client-access?client_id=web'));
  const asked = await browser.open(way);
  expect(heading(asked)).toMatch(/^End the grant of (?:bob|&lt;i&gt;gone&lt;\/i&gt;) to .+\?$/);
  expect(asked.text).toContain(
    'The tokens of this grant are refused at once. Grants of other people stay.',
  );
  expect(asked.text).toMatch(/<button class="button danger">\s*End this grant\s*</);
  expect(whatIsSent(asked)).toEqual(['client_id', 'grant']);
  expect(await stores.artefacts.countByAccount('Access', String(givers[0]))).toBe(2);
  expect((await browser.submit(asked)).status).toBe(200);
  expect(ends(await browser.open('/admin/client-show?client_id=web'))).toHaveLength(2);
  const all = await browser.open('/admin/client-end?client_id=web');
  expect(heading(all)).toBe(`End all access of ${WEB_NAME} (web)`);
  expect(all.text).toMatch(/<p class="note warn">(?:One person loses|2 people lose) access\.</);
  expect(whatIsSent(all)).toEqual(['client_id']);
  await browser.submit(all);
  expect(ends(await browser.open('/admin/client-show?client_id=web'))).toEqual([]);
});

test.each([
  ['client-end?client_id=web&grant=', 422, 'grant must be an id'],
  ['client-end?client_id=web&grant=a&grant=b', 422, 'grant is given twice'],
  ['client-end?client_id=web&grant=%00', 404, 'web has no grant'],
  ['user-end?name=bob&grant=', 422, 'grant must be an id'],
  ['user-end?name=bob&sign_in=', 422, 'sign_in must be an id'],
  ['user-end?name=bob&client=', 422, 'client must be an id'],
  ['user-end?name=bob&client=constructor', 404, 'bob has no client constructor'],
  ['signing-keys-rotate?compromised=true&kid=', 422, 'kid must be the kid of a key'],
  ['signing-keys-rotate?compromised=true&kid=x', 404, 'There is no key x'],
])(
  'the page of a part that does not exist offers no action, and its form ends nothing: %s',
  async (path, status, problem) => {
    const { stores } = site.server;
    const [bob = '', keys] = [await idOf('bob'), await stores.keys.list()];
    const page = await browser.open(`/admin/${path}`);
    expect([page.status, page.text.includes(problem)]).toEqual([status, true]);
    expect(page.text).not.toContain('name="once"');
    const [action = '', query] = path.split('?');
    const whole = await browser.open(`/admin/${action}?client_id=web&name=bob`);
    const changes = Object.fromEntries(new URLSearchParams(query));
    const sent = await browser.submit(whole, { client_id: undefined, name: undefined, ...changes });
    expect([404, 422]).toContain(sent.status);
    expect(await stores.revocations.generation('person', bob)).toBe(0);
    expect(await stores.revocations.generation('client', 'web')).toBe(0);
    expect(await stores.keys.list()).toEqual(keys);
  },
);

test('the pages of a person and of a client name their owner, and lead back', async () => {
  for (const [path, title, back] of [
    ['user-show?name=bob', 'bob', '/admin/user-list'],
    ['user-remove?name=bob', 'Erase bob', '/admin/user-show?name=bob'],
    ['user-set?name=bob', 'Change the profile of bob', '/admin/user-list'],
    ['client-show?client_id=web', `${WEB_NAME} (web)`, '/admin/client-list'],
    ['client-set?client_id=web', `Change ${WEB_NAME} (web)`, '/admin/client-show?client_id=web'],
  ] as const) {
    const page = await browser.open(`/admin/${path}`);
    expect([heading(page), page.text.includes(`<title>${title} `)]).toEqual([title, true]);
    const [, crumbs = ''] = /<nav class="crumbs".*?>(.*?)<\/nav>/s.exec(page.text) ?? [];
    expect(crumbs).toContain(`href="${back}"`);
    expect(crumbs).toMatch(/aria-current="page">[^<]*<\/li>\s*<\/ol>/);
  }
  expect((await browser.open('/admin/user-show?name=bob')).text).toContain('>Erase bob</a>');
});

test('a disabled person can be enabled, and an enabled person can be disabled', async () => {
  const before = await browser.open('/admin/user-show?name=bob');
  expect(before.text).toContain('/admin/user-disable?name=bob');
  expect(before.text).not.toContain('/admin/user-enable?name=bob');
  await browser.submit(await browser.open('/admin/user-disable?name=bob'));
  const after = await browser.open('/admin/user-show?name=bob');
  expect(after.text).toContain('/admin/user-enable?name=bob');
  expect(after.text).not.toContain('/admin/user-disable?name=bob');
});

test('activity names people by links to their pages, and a removed person by id', async () => {
  await browser.submit(await browser.open('/admin/user-disable?name=bob'));
  await close();
  const bob = await idOf('bob');
  const about = await browser.open(`/admin/audit-list?person=${bob}&kind=person.disabled`);
  expect(about.text).toContain('<a href="/admin/user-show?name=bob">bob</a>');
  expect(about.text).toContain('<a href="/admin/user-show?name=alice">alice</a>');
  await browser.submit(await browser.open('/admin/user-remove?name=bob'));
  await close();
  const gone = await browser.open(`/admin/audit-list?person=${bob}&kind=person.disabled`);
  expect(gone.text).toContain(String(bob));
  expect(gone.text).not.toContain('name=bob');
  const home = await browser.open('/admin');
  expect(home.text).toContain('Person removed');
});

test.each([
  ['en', 'Person disabled', 'A page'],
  ['de', 'Person gesperrt', 'Eine Seite'],
])('activity and its filter are in words: %s', async (language, kind, door) => {
  browser.fields = { ...browser.fields, 'accept-language': language };
  await browser.submit(await browser.open('/admin/user-disable?name=bob'));
  await close();
  for (const path of ['/admin/audit-list', '/admin/user-show?name=bob']) {
    const { text } = await browser.open(path);
    expect(text).toContain(`<strong>${kind}</strong> bob</span>`);
    expect(text).toContain(`<dd>${door}</dd>`);
    expect(text).not.toContain('<strong>person.disabled');
  }
  const { text } = await browser.open('/admin/audit-list');
  expect(text).toMatch(new RegExp(`<option value="person.disabled"\\s*>\\s*${kind}\\s*<`));
});

test('the first page shows which processes need attention', async () => {
  const now = systemClock.now();
  const report = {
    server: 'authz',
    version: '1.0.0',
    worker: 1,
    since: 1,
    ready: true,
    at: now,
  } as const;
  const { cacheReports } = site.server.stores;
  await cacheReports.put('a', writeReport(report));
  expect((await browser.open('/admin')).text).toContain('Nothing needs your attention.');
  await cacheReports.put('c', writeReport({ ...report, ready: false, ended: true }));
  expect((await browser.open('/admin')).text).toContain('Nothing needs your attention.');
  const silent = { ...report, version: '<b>2</b>', at: now - 50_000 };
  await cacheReports.put('b', writeReport(silent));
  const home = await browser.open('/admin');
  expect(home.text).toContain('One process is not ready');
  expect(home.text).toContain('Processes of at least 2 versions run');
  const status = await browser.open('/admin/server-status');
  expect(status.text).toContain('&lt;b&gt;2&lt;/b&gt;');
  for (const state of ['Ready', 'Ended', 'Silent'])
    expect(status.text).toMatch(new RegExp(`<td[^>]*>\\s*${state}\\s*<`));
  expect(status.text).toContain('<dt>Version</dt>');
  expect(status.text).not.toContain('Changes so far');
  const found = await browser.open('/admin/user-list?search=bo');
  expect([found.text.includes('name=bob'), found.text.includes('name=alice')]).toEqual([
    true,
    false,
  ]);
});

test('activity has the name of a client beside its identifier, for the client that acts and the client that is changed', async () => {
  const { recorder } = houseOf(site.server);
  await recorder.record({ kind: 'client.changed', client: 'web' });
  const byItself = recorder.by({ who: { client: 'web' }, how: 'http' });
  await byItself.record({ kind: 'person.disabled', person: 'gone' });
  await byItself.record({ kind: 'client.changed', client: 'unknown' });
  await close();
  for (const path of ['/admin/audit-list', '/admin/client-show?client_id=web']) {
    const { text } = await browser.open(path);
    const link = `<a href="/admin/client-show\\?client_id=web">${WEB_NAME} \\(web\\)</a>`;
    expect(text).toContain(`<strong>Client changed</strong> ${WEB_NAME} (web)`);
    expect(text).toMatch(new RegExp(`<dt>By</dt>\\s*<dd>${link}</dd>`));
    expect(text).toMatch(/<dt>Client<\/dt>\s*<dd>unknown<\/dd>/);
  }
});

test('a new secret is offered for clients that have one, and a change for clients without a document', async () => {
  const { clients } = site.server.stores;
  const secret = { token_endpoint_auth_method: 'client_secret_basic', secret_hash: 'x' } as const;
  await clients.add({ ...someClient('secret'), ...secret });
  await clients.add({ ...someClient('public'), token_endpoint_auth_method: 'none' });
  const url = 'https://app.example/client';
  const document = { fetched: 1, until: 2, changed: 1, registered: true } as const;
  await clients.add({ ...someClient(url), token_endpoint_auth_method: 'none', document });
  const offered = async (id: string) => {
    const { text } = await browser.open(`/admin/client-show?client_id=${encodeURIComponent(id)}`);
    return ['secret', 'set', 'remove'].filter((last) => text.includes(`"/admin/client-${last}?`));
  };
  expect(await offered('secret')).toEqual(['secret', 'set', 'remove']);
  expect(await offered('public')).toEqual(['set', 'remove']);
  expect(await offered(url)).toEqual(['remove']);
});

test('a mistake names the fields of the page, not options of the command line', async () => {
  const asked = await browser.open('/admin/client-add');
  const shown = await browser.submit(asked, {
    client_name: 'App',
    grant_types: 'authorization_code',
    scope: 'openid',
  });
  expect(shown.status).toBe(422);
  expect(shown.text).toMatch(/is missing: “[^”]+” authorization_code sends its code there/);
  expect(shown.text).not.toContain('--grant');
});

test('the form of a client lists the scopes of the spaces, and says for whom each grant type is', async () => {
  const { text } = await browser.open('/admin/client-add');
  expect(text).toContain(`The spaces need: ${scopesOfSpaces(site.server.config).join(' ')}`);
  expect(text).toContain('client_credentials: a machine in its own name');
  expect(text).toMatch(/Redirect URIs<\/label/);
  expect(text).toContain('Needed for authorization_code');
});

test('after an addition the page links only to the possible next steps, by name', async () => {
  const ways = ({ text }: Page) =>
    [...text.matchAll(/<a class="button slim(?: danger| primary)?" href="[^"]*">([^<]*)/g)].map(
      ([, way]) => way,
    );
  const client = await browser.submit(await browser.open('/admin/client-add'), {
    client_name: 'Robot',
    grant_types: 'client_credentials',
    scope: 'documents:read',
  });
  expect(ways(client)).toEqual(expect.arrayContaining(['Open Robot', 'Grants of Robot']));
  const person = await browser.submit(await browser.open('/admin/user-add'), { name: 'dora' });
  expect(ways(person)).toEqual(expect.arrayContaining(['Open dora', 'Erase dora']));
  const taking = [...person.text.matchAll(/<a class="button slim danger"[^>]*>([^<]*)/g)];
  expect(taking.map(([, way]) => way)).toEqual(expect.arrayContaining(['Erase dora']));
  expect(taking.map(([, way]) => way)).not.toContain('Open dora');
  for (const way of ['Enable dora', 'Remove the second factor of dora']) {
    expect(ways(person)).not.toContain(way);
  }
});

const IN_GERMAN = [
  [
    'client-add',
    { client_name: 'App', grant_types: 'authorization_code', scope: 'openid' },
    'fehlt; authorization_code schickt seinen Code dorthin',
  ],
  ['client-add', { grant_types: 'client_credentials', scope: 'openid' }, 'Name des Clients: fehlt'],
  ['user-add', { name: 'a b' }, 'Ein Name hat 1 bis 64 Buchstaben'],
  ['user-add', { name: 'bob' }, 'Den Namen bob gibt es schon'],
  ['user-add', { name: 'dora', password: 'short' }, 'Ein Passwort hat mindestens 8 Zeichen'],
  ['token-revoke', { token: 'x' }, 'Nichts ist geschehen. Es gibt nichts zu widerrufen'],
  ['user-disable', { name: 'nobody' }, 'Nichts ist geschehen. Es gibt keine Person nobody.'],
  ['client-secret', { client_id: 'web' }, 'Der Client web hat kein Geheimnis: Er verwendet none.'],
] as const;

test('refusals are shown in German', async () => {
  browser.fields = { ...browser.fields, 'accept-language': 'de' };
  for (const [page, given, said] of IN_GERMAN) {
    const { status, text } = await browser.submit(await browser.open(`/admin/${page}`), given);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(said);
  }
});

test('a list of keys shows the state of each key in words', async () => {
  const { text } = await browser.open('/admin/signing-keys-list');
  expect(text).toMatch(/data-name="State">\s*Signs\s*</);
});

test('the page shows the last successful backup or that none is known, and an overdue backup needs attention', async () => {
  const shown = async () => (await browser.open('/admin/server-status')).text;
  const OVERDUE = 'A backup is overdue';
  expect(await shown()).not.toContain(OVERDUE);
  expect(await shown()).not.toContain('Last complete backup');
  expect(await shown()).toMatch(/<dt>Backups<\/dt>\s*<dd>\s*Not set up. Set “backup”/);
  Object.assign(site.server.config, { backup: { every: 86_400, folder: '/backups', keep: 7 } });
  expect(await shown()).toMatch(/<dt>Backups<\/dt>\s*<dd>\s*Every 24 hours; 7 are kept/);
  expect(await shown()).toMatch(/<dt>Last complete backup<\/dt>\s*<dd>\s*None is known/);
  expect((await browser.open('/admin')).text).toContain(OVERDUE);
  const { lastBackup } = site.server.stores;
  await lastBackup.note(systemClock.now());
  expect((await browser.open('/admin')).text).not.toContain(OVERDUE);
  expect(await shown()).toMatch(
    /<dt>Last complete backup<\/dt>\s*<dd>\s*(now|1 second ago|\d+ seconds ago),\s*<time/,
  );
});

test('a key that ends soon needs attention, and its list leads to the form of a replacement', async () => {
  const { apiKeys } = site.server.stores;
  const day = 86_400_000;
  const ends = [-day, 13 * day, 15 * day].map((left) => Date.now() + left);
  for (const [index, expires_at] of ends.entries()) {
    await apiKeys.add({ ...someApiKey(`key-${index}`), expires_at });
  }
  expect((await browser.open('/admin')).text).toContain('One API key expires within two weeks');
  const list = await browser.open('/admin/key-list');
  expect(list.text).toContain('/admin/key-rotate?id=key-1');
  const removals = [...list.text.matchAll(/<a([^>]*)href="\/admin\/key-remove\?id=[^>]*>([^<]*)/g)];
  expect(removals.map(([, , text]) => text)).toEqual(['Remove', 'Remove', 'Remove']);
  expect(list.text).toContain('href="/admin/key-add"');
});

test('the page of a signing key offers to replace it, and to end it if others may have it', async () => {
  const list = await browser.open('/admin/signing-keys-list');
  const ways = [...list.text.matchAll(/\/admin\/signing-keys-rotate\?([^"]+)"/g)].map(
    ([, query = '']) => new URLSearchParams(query.replaceAll('&amp;', '&')),
  );
  const compromised = ways.find((query) => query.has('kid'));
  const asked = await browser.open(`/admin/signing-keys-rotate?${compromised?.toString()}`);
  expect(heading(asked)).toBe(`Remove the signing key ${compromised?.get('kid')}?`);
  expect(whatIsSent(asked)).toEqual(['compromised', 'kid']);
  expect((await browser.submit(asked)).status).toBe(200);
  const keys = await site.server.stores.keys.list();
  expect(keys.map(({ kid }) => kid)).not.toContain(compromised?.get('kid'));
});
