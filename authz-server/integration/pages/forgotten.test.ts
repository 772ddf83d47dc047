import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson, disablePerson } from '#shared/people/people.ts';
import type { TakenMessage } from '#shared/stores/mail/outbox.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { openDeviceFlow, type DeviceFlow } from '../device/device.fixture.ts';

const PATH = '/recover';
const mail = { host: 'mail.invalid', from: 'accounts@example.com' };

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ mail });
});
afterEach(async () => flow[Symbol.asyncDispose]());

async function ask(browser: TestBrowser, changes: Changes): Promise<Page> {
  return browser.send(await browser.open(PATH), changes, PATH);
}

/** Takes the waiting messages. */
const waiting = (): Promise<readonly TakenMessage[]> =>
  flow.authz.stores.outbox.take(flow.clock.now(), flow.clock.now() + 1, 100);

describe('the page for a forgotten password', () => {
  test('the sign-in pages link to the page', async () => {
    const { text } = await flow.browser().open('/account');
    expect(text).toContain('<a href="/recover">Forgotten your password?</a>');
  });

  test('without mail the page does not exist, and no page links to it', async () => {
    await using without = await openDeviceFlow();
    expect((await without.browser().open(PATH)).status).toBe(404);
    expect((await without.browser().open('/account')).text).not.toContain('/recover');
    const form = new URLSearchParams({ name: 'alice' });
    expect((await without.browser().request('POST', PATH, form)).status).toBe(404);
  });

  test('for a name one message waits in the language of the browser, however often it is requested', async () => {
    const browser = flow.browser();
    browser.fields = { ...browser.fields, 'accept-language': 'de' };
    for (const name of ['alice', 'ALICE', 'alice']) {
      expect((await ask(browser, { name })).text).toContain('Sehen Sie in Ihr Postfach');
    }
    expect(await waiting()).toMatchObject([
      { accountId: flow.people.alice.id, kind: 'recovery', language: 'de' },
    ]);
  });
});

describe('enumeration: no answer reveals who has an account', () => {
  test('a known, unknown, disabled and impossible name get the same answer, and a message each', async () => {
    const people = {
      ...flow.store,
      stores: flow.authz.stores,
      random: systemRandom,
      passwords: createPasswords(argon2Once),
      realms: [],
    };
    await addPerson(people, { name: 'dora' });
    await disablePerson(people, 'bob');
    const browser = flow.browser();
    const pages: Page[] = [];
    const names = ['alice', 'bob', 'dora', 'nobody', 'al ice', '', '__proto__', 'x'.repeat(1000)];
    for (const name of names) pages.push(await ask(browser, { name }));
    for (const { status, text } of pages) {
      expect([status, text]).toEqual([200, pages[0]?.text]);
    }
    // The two impossible names count as the same unknown name.
    expect(await waiting()).toHaveLength(names.length - 2);
  });

  test('the limit of a name applies to unknown names, too', async () => {
    for (const name of ['alice', 'nobody']) {
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1) statuses.push((await ask(flow.browser(), { name })).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    }
  });
});

test('one address can make ten requests, and then gets 429 with Retry-After', async () => {
  const browser = flow.browser();
  for (let n = 0; n < 10; n += 1) {
    expect((await ask(browser, { name: `person${n}` })).status).toBe(200);
  }
  const refused = await ask(browser, { name: 'alice' });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.text).toContain('value="alice"');
  expect(await waiting()).toHaveLength(10);
});

test.each<[string, Changes, number]>([
  ['two names', { name: ['alice', 'bob'] }, 400],
  ['a form of more than 16 KiB', { name: 'x'.repeat(17_000) }, 413],
  ['the token of another browser (CSRF)', { name: 'alice', csrf: 'x'.repeat(65) }, 403],
])('with %s the form is refused, and no message waits', async (_, changes, status) => {
  expect((await ask(flow.browser(), changes)).status).toBe(status);
  expect(await waiting()).toEqual([]);
});

test('a GET request with a name in its query sends no message', async () => {
  expect((await flow.browser().open(`${PATH}?name=alice`)).status).toBe(200);
  expect(await waiting()).toEqual([]);
});
