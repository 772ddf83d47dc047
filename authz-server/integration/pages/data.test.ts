import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { closeOpen } from '#shared/audit/close.ts';
import { textOf } from '#shared/audit/entry.ts';
import { macKey } from '#shared/audit/mac.ts';
import { notify } from '#shared/mail/notify.ts';
import { configSchema } from '#shared/config/schema.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { createAddressLinks } from '#shared/people/address-links.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { addRights } from '../../gnap/rights.ts';
import { systemRandom } from '#shared/base/random.ts';
import { somePasskey, somePublicKey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { someSubscription } from '#shared/stores/contract/push/samples.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import {
  ALL,
  type DeviceFlow,
  openDeviceFlow,
  PASSWORD,
  signIn,
} from '../device/device.fixture.ts';

const PAGE = '/account/data';
const FILE = '/account/data/file';

const MAIL = { host: 'mail.invalid', from: 'accounts@as.example' };

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ audit: { addresses: true }, mail: MAIL });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');
const close = () =>
  closeOpen({
    audit: flow.authz.stores.audit,
    key: macKey(flow.authz.master),
    clock: flow.clock,
  });

async function fileOf(browser: TestBrowser): Promise<Record<string, unknown>> {
  await close();
  const page = await browser.open(FILE);
  expect(page.status).toBe(200);
  return JSON.parse(page.text) as Record<string, unknown>;
}

/** Puts rows about alice, with known secrets, into every table that may have them. */
async function everything(): Promise<void> {
  const { stores } = flow.authz;
  const { id } = flow.people.alice;
  const now = (await stores.people.get(id)) ?? flow.people.alice;
  await stores.people.replace(
    { ...now, version: now.version + 1, profile: { display_name: 'Alice Liddell' } },
    [{ kind: 'digest SHA-256', realm: 'api', value: 'the secret verifier', handle: 'handle' }],
  );
  await stores.passkeys.add({ ...somePasskey('her passkey'), accountId: id }, 10);
  await stores.secondFactors.add({
    ...someSecondFactor(id),
    sealed: 'the secret of codes',
    recovery: ['the secret MAC'],
  });
  const owner = { kind: 'person', id } as const;
  await stores.publicKeys.add({ ...somePublicKey('her key'), owner }, 10);
  const push = { id: 'the secret bell', push: 'the secret rope', person: id };
  const [grant] = await listAccess(flow.store, id);
  const right = { url: 'https://api.example/', scopes: ['read'] } as never;
  await addRights({ stores }, grant?.grantId ?? '', { added: [right], refused: [] }, 600);
  const links = createAddressLinks({ stores, random: systemRandom });
  await links.make(id, 'new@example.com');
  await stores.push.subscribe(someSubscription(push), 10);
  const parts = { config: configSchema.parse({ mail: MAIL }), stores, clock: flow.clock };
  await notify({ ...parts, random: systemRandom }, id, 'password-changed', 'en');
}

describe('everything about a person as JSON', () => {
  test('the file has what the server keeps about the person, and no secret', async () => {
    const browser = await flow.signedIn('alice');
    await flow.useWeb(browser, ALL.scope);
    await everything();
    const file = await fileOf(browser);
    const { id } = flow.people.alice;
    expect(file).toMatchObject({
      person: { id, name: 'alice', has_password: true, profile: { display_name: 'Alice Liddell' } },
      verifiers: [{ kind: 'digest SHA-256', realm: 'api' }],
      generation: 0,
      passkeys: [{ id: 'her passkey', name: 'Laptop' }],
      second_factor: { recovery_codes_left: 1 },
      public_keys: [{ id: 'her key', scheme: 'Concealed' }],
      sign_ins: [{ agent: 'Test Browser' }],
      address_to_confirm: 'new@example.com',
      grants: [{ clientId: 'web', rights: [{ url: 'https://api.example/', scopes: ['read'] }] }],
      consents: [{ clientId: 'web' }],
      push_subscriptions: [{ created_at: 1_800_000_000_000 }],
      messages: [{ kind: 'new-sign-in' }, { kind: 'password-changed', language: 'en' }],
      applications_to_tell: [],
      documents: [],
    });
    expect((file['events'] as { kind: string }[]).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['sign-in', 'consent.given', 'token.issued']),
    );
    const text = JSON.stringify(file);
    const { password_hash = '' } = (await flow.authz.stores.people.get(id)) ?? {};
    for (const secret of ['secret', 'argon2', password_hash, 'handle']) {
      expect(text).not.toContain(secret);
    }
  });

  test('the file has every event of a long list, in order, and no event twice', async () => {
    const browser = await flow.signedIn('alice');
    const { id } = flow.people.alice;
    const texts = Array.from({ length: 950 }, (_, n) =>
      textOf(
        { kind: 'token.issued', person: id, client: `client ${n}`, grant: 'g' } as never,
        { who: 'server', how: 'token endpoint' },
        flow.clock.now(),
      ),
    );
    await flow.authz.stores.audit.append(...texts);
    await close();
    const { events } = await fileOf(browser);
    const clients = (events as { client?: string }[]).flatMap(({ client }) => client ?? []);
    expect(clients).toEqual(Array.from({ length: 950 }, (_, n) => `client ${n}`));
  });

  test('the file says nothing about other people', async () => {
    const { alice, bob } = flow.people;
    const { audit } = flow.authz.stores;
    const now = flow.clock.now();
    const byBob = { who: { person: bob.id }, how: 'page', from: '198.51.100.99' } as const;
    const byAlice = { who: { person: alice.id }, how: 'page' } as const;
    await audit.append(
      textOf({ kind: 'person.changed', person: alice.id, what: 'profile' }, byBob, now),
      textOf({ kind: 'person.changed', person: bob.id, what: 'profile' }, byAlice, now),
    );
    const file = JSON.stringify(await fileOf(await flow.signedIn('alice')));
    expect(file).toContain('"who":"administrator"');
    expect(file).not.toContain(bob.id);
    expect(file).not.toContain('198.51.100.99');
    expect(JSON.stringify(await fileOf(await flow.signedIn('bob')))).not.toContain(alice.id);
  });

  test('without a sign-in, and after an old sign-in, the server asks to sign in and leads to the page', async () => {
    const stranger = await flow.browser().open(FILE);
    expect([asksToSignIn(stranger), stranger.text.includes('alice')]).toEqual([true, false]);
    const browser = await flow.signedIn('alice');
    flow.clock.advance(301);
    const asked = await browser.open(FILE);
    expect(asksToSignIn(asked)).toBe(true);
    const page = await browser.submit(asked, { password: PASSWORD }, '/sign-in');
    expect(new URL(page.url).pathname).toBe(PAGE);
    expect(page.text).toContain(`href="${FILE}"`);
    expect((await browser.open(FILE)).status).toBe(200);
  });

  test('the file is a download that no cache stores', async () => {
    const { headers } = await (await flow.signedIn('alice')).open(FILE);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('content-disposition')).toBe('attachment; filename="account.json"');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('the audit log has each download, and no entry for HEAD', async () => {
    const browser = await flow.signedIn('alice');
    const sent = async () =>
      ((await fileOf(browser))['events'] as { kind: string }[]).filter(
        ({ kind }) => kind === 'person.data-sent',
      );
    expect((await browser.request('HEAD', FILE)).status).toBe(200);
    expect(await sent()).toEqual([]);
    const [event] = await sent();
    const { id } = flow.people.alice;
    expect(event).toMatchObject({ who: { person: id }, how: 'page', person: id });
  });

  test('another person in the same browser gets their own data, without a sign-in none', async () => {
    const browser = await flow.signedIn('alice');
    expect(await fileOf(browser)).toMatchObject({ person: { name: 'alice' } });
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    expect(asksToSignIn(await browser.open(FILE))).toBe(true);
    await signIn(browser, await browser.open('/account'), 'bob');
    expect(await fileOf(browser)).toMatchObject({ person: { name: 'bob' } });
  });

  test('a store that fails gives 503 before the file begins, and an unfinished file afterwards', async () => {
    const browser = await flow.signedIn('alice');
    const { audit, outbox } = flow.authz.stores;
    const failing = () => Promise.reject(new StoreUnavailable('down'));
    await close();
    const printed = jest.spyOn(console, 'error');
    const rows = jest.spyOn(audit, 'rows').mockImplementation(failing);
    await expect(browser.open(FILE)).rejects.toThrow();
    rows.mockRestore();
    expect(printed).not.toHaveBeenCalled();
    const of = jest.spyOn(outbox, 'of').mockImplementation(failing);
    const refused = await browser.open(FILE);
    expect([refused.status, refused.headers.get('content-disposition')]).toEqual([503, null]);
    of.mockRestore();
    expect((await browser.open(FILE)).status).toBe(200);
  });

  test('the account page links to the page, which offers no end of the account by default', async () => {
    const browser = await flow.signedIn('alice');
    expect((await browser.open('/account')).text).toContain(`href="${PAGE}"`);
    expect((await browser.open(PAGE)).text).not.toContain('/account/remove');
    expect((await browser.open('/account/remove')).status).toBe(404);
  });
});
