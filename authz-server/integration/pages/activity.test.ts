import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closeOpen } from '#shared/audit/close.ts';
import { type By, textOf } from '#shared/audit/entry.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { macKey } from '#shared/audit/mac.ts';
import { ATTACKS } from '#shared/pages/checked.fixture.ts';
import { type DeviceFlow, openDeviceFlow } from '../device/device.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

const PATH = '/account/activity';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ audit: { addresses: true } });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const audit = () => flow.authz.stores.audit;
const close = () =>
  closeOpen({ audit: audit(), key: macKey(flow.authz.master), clock: flow.clock });
const alice = () => flow.people.alice.id;

async function happened(by: By, ...events: readonly AuditEvent[]): Promise<void> {
  for (const event of events) await audit().append(textOf(event, by, flow.clock.now()));
  await close();
}

/** Returns the text of the page's entries, one per line. */
async function entriesAt(browser: TestBrowser, path = PATH): Promise<readonly string[]> {
  await close();
  const { text } = await browser.open(path);
  const list = /<h1>.*?<\/main>/s.exec(text)?.[0] ?? '';
  return [...list.matchAll(/<div class="entry">(.*?)<\/div>/gs)].map(([, entry = '']) =>
    entry
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

test("the page lists a sign-in with its browser, an application's actions and a wrong password, newest first", async () => {
  const browser = await flow.signedIn('alice');
  await flow.useWeb(browser, 'openid');
  const stranger = flow.browser();
  await stranger.submit(await stranger.open('/account'), { name: 'alice', password: 'x' });
  const entries = await entriesAt(browser);
  expect(entries[0]).toMatch(/^A sign-in was refused .* a wrong password Address 127\.0\.0\.1$/);
  expect(entries.join('\n')).toMatch(/ used its access/);
  expect(entries.at(-1)).toMatch(/^You signed in .* a password Browser .+/);
  const overview = await browser.open('/account');
  expect(overview.text).toContain('A sign-in was refused');
  expect(overview.text).toContain(`href="${PATH}"`);
});

test('another person cannot read the page, and without a sign-in the page asks for one', async () => {
  await flow.signedIn('alice');
  await happened(
    { who: 'operator', how: 'command line' },
    { kind: 'passkey.renamed', person: alice(), key: 'k' },
  );
  const bob = await entriesAt(await flow.signedIn('bob'));
  expect(bob.map((entry) => entry.slice(0, 13))).toEqual(['You signed in']);
  const stranger = await flow.browser().open(PATH);
  expect(stranger.text).toContain('name="password"');
  expect(stranger.text).not.toContain('renamed');
});

describe('the actor of an entry', () => {
  test('an entry shows administrators and operators without a name, id or address', async () => {
    const browser = await flow.signedIn('alice');
    const admin = flow.people.bob;
    await happened(
      { who: { person: admin.id }, how: 'page', from: '192.0.2.99' },
      { kind: 'person.changed', person: alice(), what: 'groups' },
    );
    await happened(
      { who: 'operator', how: 'command line', from: '192.0.2.99' },
      { kind: 'second-factor.removed', person: alice() },
    );
    const { text } = await browser.open(PATH);
    const entries = await entriesAt(browser);
    expect(entries[0]).toContain('Done by the people who run this server');
    expect(entries[1]).toContain('Done by an administrator');
    for (const secret of [admin.id, '>bob<', '192.0.2.99', 'groups']) {
      expect(text).not.toContain(secret);
    }
  });

  test.each([
    ['emails', /^An e-mail address was confirmed or changed/],
    ['profile', /^Your profile was changed/],
    ['admin given', /^You may now administer this server/],
    ['admin taken', /^You may no longer administer this server/],
    ['profile, admin given', /^Your profile was changed, and you may now administer/],
    ['profile, admin taken', /^Your profile was changed, and you may no longer administer/],
    ['kerberos', /^Your Kerberos names were changed/],
    ['import', /^Your account was changed/],
    ['toString', /^Your account was changed/],
  ])('the entry for a change of %s describes it', async (what, title) => {
    const browser = await flow.signedIn('alice');
    await happened(
      { who: 'operator', how: 'command line' },
      { kind: 'person.changed', person: alice(), what },
    );
    expect((await entriesAt(browser))[0]).toMatch(title);
  });

  test('an entry about an action for other people does not name them', async () => {
    const browser = await flow.signedIn('alice');
    await happened(
      { who: { person: alice() }, how: 'page' },
      { kind: 'person.disabled', person: flow.people.bob.id },
      { kind: 'client.added', client: 'hidden-client' },
    );
    const { text } = await browser.open(PATH);
    expect((await entriesAt(browser)).slice(0, 2)).toEqual(
      Array(2).fill(expect.stringMatching(/^You did something as an administrator/)),
    );
    expect(text).not.toContain('hidden-client');
    expect(text).not.toContain(flow.people.bob.id);
  });
});

test('the pages go from the newest to the oldest entry, and show each entry once', async () => {
  const browser = await flow.signedIn('alice');
  const key = (n: number) => ({ kind: 'passkey.added', person: alice(), key: `${n}` }) as const;
  const renamed = { kind: 'passkey.renamed', person: alice(), key: '0' } as const;
  const by = { who: { person: alice() }, how: 'page' } as const;
  await happened(by, ...Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? key(n) : renamed)));
  const first = await browser.open(PATH);
  const [, older = ''] = /href="(\/account\/activity\?after=\d+)"/.exec(first.text) ?? [];
  const [newest, rest] = [await entriesAt(browser), await entriesAt(browser, older)];
  expect(newest).toHaveLength(50);
  expect(rest).toHaveLength(11);
  expect(rest.at(-1)).toMatch(/^You signed in/);
  expect((await browser.open(older)).text).not.toContain(`${PATH}?after=`);
});

test('consecutive equal entries are shown as one entry with their number', async () => {
  const browser = await flow.signedIn('alice');
  const used = { kind: 'token.issued', client: 'gone', person: alice(), type: 'x' } as const;
  await happened({ who: { client: 'gone' }, how: 'token endpoint' }, used, used, used);
  const entries = await entriesAt(browser);
  expect(entries).toHaveLength(2);
  expect(entries[0]).toMatch(/^gone used its access 3 times/);
});

test.each(['x', '-1', '0', '1e3', '99999999999999999999', '<script>', '1&after=2', "1' OR 1"])(
  'a malformed or very high position (%s) gives the first page or an empty one',
  async (place) => {
    const browser = await flow.signedIn('alice');
    const { status, text } = await browser.open(`${PATH}?after=${encodeURIComponent(place)}`);
    expect(status).toBe(200);
    expect(text).not.toContain('<script>1');
  },
);

test('ids that a client chose are shown as text', async () => {
  const browser = await flow.signedIn('alice');
  for (const client of ATTACKS) {
    await happened(
      { who: { client }, how: 'gnap' },
      { kind: 'token.issued', client, person: alice(), type: client },
    );
  }
  const { status, text } = await browser.open(PATH);
  expect(status).toBe(200);
  for (const attack of ATTACKS.filter((one) => one.includes('<'))) {
    expect(text).not.toContain(attack);
  }
});
