import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { addUser } from '#shared/operations/people/user-add.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { houseOf } from '../../base/house.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { ALICE, BOB } from '../pages/at-consent.fixture.ts';
import { testSite, type TestSite } from '../site.fixture.ts';

let site: TestSite;
let browser: TestBrowser;
beforeAll(async () => {
  const often = { burst: 100_000, per: 1 };
  site = await testSite({ limits: { address: often, signIn: often } }, systemClock, true);
  const house = houseOf(site.server);
  await perform(setUser, { name: 'alice', admin: true }, house);
  const carla = {
    name: 'carla',
    display_name: 'Zoë <b>Öztürk</b>',
    emails: [{ address: 'c.o@example.org', verified: false }],
  };
  await perform(addUser, carla, house);
  await perform(addUser, { name: 'zora' }, house);
  const named = { ...someClient('nightly-1'), client_name: 'Zone "Import"' };
  await site.server.stores.clients.add(named);
  browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
});
afterAll(async () => site[Symbol.asyncDispose]());

const asked = (text: string) => `/admin/search?q=${encodeURIComponent(text)}`;

/** The links of the answer that the script of the page asks for. */
async function found(text: string, by = browser): Promise<readonly string[]> {
  by.fields = { ...by.fields, accept: 'application/json' };
  const answer = await by.request('GET', asked(text));
  by.fields = { ...by.fields, accept: 'text/html' };
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { items } = JSON.parse(answer.text) as { items: { href: string }[] };
  return items.map(({ href }) => href.replace('/admin/', ''));
}

const CARLA = 'user-show?name=carla';
const ZORA = 'user-show?name=zora';
const ZONE = 'client-show?client_id=nightly-1';

test.each([
  ['the beginning of a name', 'CAR', [CARLA]],
  ['the beginning of several names', 'zo', [CARLA, ZORA, ZONE]],
  ['the beginning of an address', 'C.O@exa', [CARLA]],
  ['a whole address', 'c.o@example.org', [CARLA]],
  ['a word of a display name', 'öztürk', [CARLA]],
  ['words of a display name in another order', 'özt zoë', [CARLA]],
  ['the beginning of a client_id', 'nightly', [ZONE]],
  ['a word of the name of a client', 'import', [ZONE]],
  ['spaces around a text', ' import ', [ZONE]],
  ['the middle of a name', 'arla', []],
  ['nothing', '', []],
  ['spaces', '  ', []],
  ['characters of patterns', '%', []],
  ['another character of patterns', '_', []],
  ['a NUL', '\u0000', []],
  ['a very long text', 'z'.repeat(5000), []],
])('a search by %s', async (_, text, expected) => {
  expect(await found(text)).toEqual(expected);
});

test('a search by an id finds the person', async () => {
  const { id = '' } = (await site.server.stores.people.getByName('carla')) ?? {};
  expect(await found(id)).toEqual([CARLA]);
});

test('a search shows the person or client that the whole text names first, before many strangers', async () => {
  const house = houseOf(site.server);
  const strangers = Array.from({ length: 21 }, (_, n) => `a-stranger-${n}`);
  for (const name of strangers) {
    const emails = ['victor@', 'vi@example.org.'].map((start) => ({
      address: `${start}${name}.example`,
      verified: true,
    }));
    await perform(addUser, { name, emails }, house);
    const client_name = 'victor-app';
    await site.server.stores.clients.add({ ...someClient(`a-client-${name}`), client_name });
  }
  const emails = [{ address: 'vi@example.org', verified: true }];
  await perform(addUser, { name: 'victor', emails }, house);
  await site.server.stores.clients.add(someClient('victor-app'));
  const VICTOR = 'user-show?name=victor';
  const byName = await found('Victor');
  expect([byName[0], byName.filter((way) => way === VICTOR)]).toEqual([VICTOR, [VICTOR]]);
  expect((await found('vi@Example.org'))[0]).toBe(VICTOR);
  expect(await found('victor-app')).toContain('client-show?client_id=victor-app');
});

test('a search by two words finds a person whose first word very many people have', async () => {
  const house = houseOf(site.server);
  for (let n = 0; n < 251; n += 1) {
    await perform(addUser, { name: `mia-${n}`, display_name: 'Mia Muster' }, house);
  }
  await perform(addUser, { name: 'wanted', display_name: 'Mina Zwetschge' }, house);
  expect(await found('mi zwetsch')).toEqual(['user-show?name=wanted']);
});

test('without script the form leads to a page with what was found, and the text stays in its field', async () => {
  const page = await browser.open(asked('"zo'));
  expect(page.status).toBe(200);
  expect(page.text).toContain('value="&quot;zo"');
  const shown = await browser.open(asked('zo'));
  expect(shown.text).toContain('Zoë &lt;b&gt;Öztürk&lt;/b&gt;');
  for (const way of [CARLA, ZORA, ZONE]) expect(shown.text).toContain(`href="/admin/${way}"`);
});

test('anybody but an administrator finds nothing at the address of the search', async () => {
  const strangers = site.browser();
  expect((await strangers.open(asked('zo'))).status).toBe(404);
  await strangers.submit(await strangers.open('/account'), BOB);
  const answer = await strangers.open(asked('zo'));
  expect([answer.status, answer.text.includes('carla')]).toEqual([404, false]);
  expect((await browser.request('POST', asked('zo'))).status).toBe(404);
});
