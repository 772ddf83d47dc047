import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { secretsOf } from '#shared/operations/texts.ts';
import { houseOf } from '../../base/house.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { ALICE } from '../pages/at-consent.fixture.ts';
import { testSite, type TestSite } from '../site.fixture.ts';

const TYPED = ' a secret of nobody else ';

let site: TestSite;
let clock: ManualClock;
let browser: TestBrowser;
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  site = await testSite({}, clock);
  await perform(setUser, { name: 'alice', admin: true }, houseOf(site.server));
  browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
});
afterEach(async () => site[Symbol.asyncDispose]());

const bob = async () => site.server.stores.people.getByName('bob');

const SECRETS = OPERATIONS.flatMap(({ name, input }) =>
  [...secretsOf(input)].map((member) => [name, member] as const),
);

test('members with which a person or program authenticates are secrets, and no reading operation takes one', () => {
  const named = OPERATIONS.flatMap(({ name, input }) =>
    Object.keys(input.shape)
      .filter((member) => /^(?:password|secret|token|key|.*_(?:secret|token))$/.test(member))
      .map((member) => [name, member]),
  );
  expect(SECRETS).toEqual(named);
  const names = new Set(SECRETS.map(([name]) => name));
  expect(names).toContain('user add');
  expect(names).toContain('user passwd');
  const reads = OPERATIONS.filter(({ name, effect }) => names.has(name) && effect === 'reads');
  expect(reads).toEqual([]);
});

describe.each(SECRETS)('%s with a %s', (name, member) => {
  const path = `/admin/${name.replaceAll(' ', '-')}`;

  test('its page hides the typed secret, and no password manager fills in the administrator’s own', async () => {
    const { text } = await browser.open(path);
    const field = new RegExp(`<input[^>]*name="${member}"[^>]*>`).exec(text)?.[0];
    expect(field).toContain('type="password"');
    expect(field).toContain('autocomplete="new-password"');
    expect(field).not.toContain('value=');
  });

  test.each(['GET', 'HEAD'])('its page refuses %s with the secret in the query', async (method) => {
    const before = await bob();
    const query = new URLSearchParams({ name: 'bob', [member]: TYPED }).toString();
    const { status, text } = await browser.request(method, `${path}?${query}`);
    expect(status).toBe(422);
    expect(text).not.toContain(TYPED.trim());
    if (method === 'GET') expect(text).toContain(`id="field-${member}-problem"`);
    expect(await bob()).toEqual(before);
  });

  test('its page does not show the secret again after a mistake', async () => {
    const asked = await browser.open(path);
    const refused = await browser.submit(asked, { name: 'no such \u0000 name', [member]: TYPED });
    expect([404, 422]).toContain(refused.status);
    expect(refused.text).not.toContain(TYPED.trim());
  });

  test('its page does not keep the secret during another sign-in', async () => {
    const asked = await browser.open(path);
    clock.advance(606);
    const again = await browser.send(asked, { name: 'bob', [member]: TYPED });
    expect(again.text).toContain('again after ten minutes');
    expect(again.text).not.toContain(TYPED.trim());
    expect(JSON.stringify(again.forms)).not.toContain('of+nobody');
    const byQuery = await browser.open(`${path}?${member}=stolen-${member}`);
    expect(byQuery.text).not.toContain(`stolen-${member}`);
    const back = await browser.submit(again, ALICE);
    const { pathname, searchParams } = new URL(back.url);
    expect([pathname, searchParams.get('name')]).toEqual([path, 'bob']);
    expect(searchParams.has(member)).toBe(false);
  });
});

describe('a password that an administrator sets', () => {
  test('a typed password is set unchanged, with its spaces, and is not shown', async () => {
    const asked = await browser.open('/admin/user-passwd?name=bob');
    const done = await browser.submit(asked, { password: TYPED });
    expect([done.status, done.text.includes(TYPED.trim())]).toEqual([200, false]);
    const other = site.browser();
    await other.submit(await other.open('/account'), { name: 'bob', password: TYPED });
    expect((await other.open('/account')).text).toContain('bob');
  });

  test('a password that is not allowed is refused beside its field', async () => {
    const before = await bob();
    const asked = await browser.open('/admin/user-passwd?name=bob');
    const refused = await browser.submit(asked, { password: 'short' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('id="field-password-problem"');
    expect(await bob()).toEqual(before);
  });

  test('an omitted password is generated, and shown once', async () => {
    const asked = await browser.open('/admin/user-passwd?name=bob');
    const done = await browser.submit(asked);
    expect(done.text).toMatch(/<dd>(?:\w{5}-){3}\w{5}<\/dd>/);
    expect((await browser.send(asked)).text).not.toMatch(/<dd>(?:\w{5}-){3}\w{5}<\/dd>/);
  });
});
