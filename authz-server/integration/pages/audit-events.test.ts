import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Entry, entryOf } from '#shared/audit/entry.ts';
import { NOBODY } from '#shared/audit/recorder.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { STATE } from '#shared/stores/sqlite/schema/state.ts';
import { CALLBACK } from '../code-flow.fixture.ts';
import { PASSWORD, type DeviceFlow, openDeviceFlow, pathOf } from '../device/device.fixture.ts';

const NEW = 'another horse, another battery';

/** An authorization request of a client. */
const QUERY = new URLSearchParams({
  client_id: 'web',
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'openid',
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256',
}).toString();

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow();
});
afterEach(async () => flow[Symbol.asyncDispose]());

const entries = async (): Promise<readonly Entry[]> =>
  (await flow.authz.stores.audit.open()).texts.map(entryOf);

/** Returns the kinds of events about alice that the visitor caused. */
async function kindsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await entries()).length;
  await work();
  return (await entries()).slice(before).map(({ kind }) => kind);
}

async function signIn(password: string) {
  const browser = flow.browser();
  await browser.submit(await browser.open('/account'), { name: 'alice', password });
  return browser;
}

test('a sign-in and its end are recorded as actions of the person', async () => {
  const { id } = flow.people.alice;
  expect(await kindsOf(() => signIn(PASSWORD))).toEqual(['sign-in']);
  const last = (await entries()).at(-1);
  expect(last).toMatchObject({ who: { person: id }, how: 'page', person: id, what: 'pwd' });
  expect(last).not.toHaveProperty('from');
});

test('a sign-in on the way to a client is recorded once, and each consent when it is given', async () => {
  const { id } = flow.people.alice;
  const arrive = async () => {
    const browser = flow.browser();
    const asked = await browser.open(`/auth?${QUERY}`);
    return { browser, page: await browser.submit(asked, { name: 'alice', password: PASSWORD }) };
  };
  const before = (await entries()).length;
  const { browser, page } = await arrive();
  await browser.submit(page, { decision: 'allow' });
  // The consent is remembered, so the second browser gets no consent page.
  await arrive();
  const all = (await entries()).slice(before);
  expect(all.map(({ kind }) => kind)).toEqual(['sign-in', 'consent.given', 'sign-in']);
  expect(all[0]).toMatchObject({ who: { person: id }, how: 'page', person: id, what: 'pwd' });
  expect(all[1]).toMatchObject({ who: { person: id }, how: 'page', person: id, client: 'web' });
});

test('the end of a sign-in is recorded when the person signs out at an application, or another person signs in', async () => {
  const browser = await signIn(PASSWORD);
  const ended = { kind: 'sign-in.ended', how: 'page', person: flow.people.alice.id };
  const signOut = async () =>
    browser.submit(await browser.open('/session/end'), { logout: 'yes' }, '/session/end/confirm');
  expect(await kindsOf(signOut)).toEqual(['sign-in.ended']);
  expect((await entries()).at(-1)).toMatchObject({ ...ended, who: { person: ended.person } });
  const shared = await signIn(PASSWORD);
  const again = async () =>
    shared.submit(await shared.open(`/auth?${QUERY}&prompt=login`), {
      name: 'bob',
      password: PASSWORD,
    });
  expect((await kindsOf(again)).toSorted()).toEqual(['sign-in', 'sign-in.ended']);
});

test('the consent to a device is recorded', async () => {
  const browser = await signIn(PASSWORD);
  const code = await flow.askAsDevice();
  const kinds = await kindsOf(async () =>
    browser.submit(await browser.open(pathOf(code)), { decision: 'allow' }, '/device'),
  );
  expect(kinds).toEqual(['consent.given']);
});

test('a wrong password is recorded for the person whose name was typed, at most ten times per hour', async () => {
  const { id } = flow.people.alice;
  const kinds = await kindsOf(async () => {
    for (let n = 0; n < 3; n += 1) await signIn('wrong');
  });
  expect(kinds).toEqual(Array(3).fill('sign-in.refused'));
  expect((await entries()).at(-1)).toMatchObject({ who: 'server', person: id, reason: 'password' });
});

test('an unknown name, which may be a password, is in no event and in no counter', async () => {
  const typed = 'my-secret-instead-of-a-name';
  const browser = flow.browser();
  const kinds = await kindsOf(async () =>
    browser.submit(await browser.open('/account'), { name: typed, password: PASSWORD }),
  );
  expect(kinds).toEqual([]);
  const counts = await flow.authz.stores.audit.refusals(Number.MAX_SAFE_INTEGER);
  expect(counts.map(({ person }) => person)).toEqual([NOBODY]);
});

test('a new password is recorded, and a refused one is not', async () => {
  const browser = await signIn(PASSWORD);
  const change = async (current: string) =>
    browser.send(
      await browser.open('/account/password'),
      { current, password: NEW },
      '/account/password',
    );
  expect(await kindsOf(() => change('wrong'))).toEqual([]);
  expect(await kindsOf(() => change(PASSWORD))).toEqual(['password.changed']);
  expect(JSON.stringify(await entries())).not.toContain(NEW);
});

test('the use of a link and the password that it sets are recorded together, and neither is if the password is refused', async () => {
  const { id } = flow.people.alice;
  const { people } = flow.authz.stores;
  const links = createRecoveryLinks({ stores: flow.authz.stores, random: systemRandom });
  const use = async () => {
    const path = `/recover/${await links.make({ person: id, purpose: 'recovery' })}`;
    const browser = flow.browser();
    return browser.send(await browser.open(path), { password: NEW }, path);
  };
  const rename = (from: string, to: string) => {
    using database = new DatabaseSync(join(flow.authz.config.data, STATE.file));
    database.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
  };
  const before = await people.get(id);
  rename('audit_open', 'audit_away');
  const refused = await use();
  rename('audit_away', 'audit_open');
  expect(refused.status).toBeGreaterThanOrEqual(500);
  expect(await people.get(id)).toEqual(before);
  expect((await entries()).map(({ kind }) => kind)).not.toContain('link.used');
  const kinds = await kindsOf(use);
  expect(kinds.slice(0, 2)).toEqual(['password.changed', 'link.used']);
  expect((await entries()).find(({ kind }) => kind === 'link.used')).toMatchObject({
    who: { person: id },
    how: 'link',
    what: 'recovery',
  });
});
