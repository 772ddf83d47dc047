import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { systemRandom } from '#shared/base/random.ts';
import { replacePerson } from '#shared/people/people.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import type { Changes, Page } from '../browser.fixture.ts';
import { openDeviceFlow, type DeviceFlow } from '../device/device.fixture.ts';

const NEW = 'another horse, another battery';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({});
});
afterEach(async () => flow[Symbol.asyncDispose]());

/** Returns the path of a new link. */
async function link(): Promise<string> {
  const links = createRegistrationLinks({ stores: flow.authz.stores, random: systemRandom });
  return `/register/${(await links.makeFirst()).secret}`;
}

/** Opens a link in a new browser, and sends its form. */
async function use(path: string, changes: Changes = {}): Promise<Page> {
  const browser = flow.browser();
  return browser.send(await browser.open(path), { name: 'dora', password: NEW, ...changes }, path);
}

const named = (name: string) => flow.authz.stores.people.getByName(name);
const status = async (path: string) => (await flow.browser().open(path)).status;

describe('the link of the first administrator, with people.registration off', () => {
  test('the link makes an administrator without an address, who can sign in and administer', async () => {
    const path = await link();
    expect((await flow.browser().open(path)).text).toContain('you administer the server');
    expect((await use(path)).text).toContain('Your name is dora');
    const person = await named('dora');
    expect(person).toMatchObject({ admin: true });
    expect(person?.profile).toBeUndefined();
    const browser = flow.browser();
    const account = await browser.submit(await browser.open('/account'), {
      name: 'dora',
      password: NEW,
    });
    expect(account.text).toContain('<a href="/admin">');
    expect((await browser.open('/admin')).status).toBe(200);
  });

  test('the link makes an administrator with a passkey and no password', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    const passkey = new Authenticator(flow.authz.config.issuer).create(optionsIn(page));
    const form = { name: 'dora', password: '', passkey };
    expect((await browser.send(page, form, path)).status).toBe(200);
    const { id = '', password_hash, admin } = (await named('dora')) ?? {};
    expect([password_hash, admin]).toEqual([undefined, true]);
    expect(await flow.authz.stores.passkeys.of(id)).toHaveLength(1);
  });

  test('the administrator may have a reserved name, but not the name of a person', async () => {
    const path = await link();
    expect((await use(path, { name: 'alice' })).status).toBe(422);
    expect((await use(path, { name: 'admin' })).status).toBe(200);
  });

  test('the link works once', async () => {
    const path = await link();
    expect((await use(path)).status).toBe(200);
    expect(await status(path)).toBe(404);
  });

  test('a link that a newer one replaces while it is used makes no second administrator', async () => {
    const path = await link();
    const { limits } = flow.authz.stores;
    const spend = limits.spend.bind(limits);
    let newer = '';
    limits.spend = async (kind, ...more) => {
      if (kind === 'registration-link' && newer === '') newer = await link();
      return spend(kind, ...more);
    };
    expect((await use(path)).status).toBe(404);
    expect(await named('dora')).toBeUndefined();
    expect((await use(newer)).status).toBe(200);
    expect(await named('dora')).toMatchObject({ admin: true });
  });

  test('if the link is used ten times at the same time, it makes one administrator', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        browser.send(page, { name: `dora${n}`, password: NEW }, path),
      ),
    );
    expect(pages.filter((one) => one.status === 200)).toHaveLength(1);
    const range = { list: { state: 'admin' }, limit: 20 } as const;
    expect(await flow.authz.stores.people.page(range)).toHaveLength(1);
  });

  test('the link ends when the next one is made, and after an hour', async () => {
    const [former, path] = [await link(), await link()];
    expect([await status(former), await status(path)]).toEqual([404, 200]);
    flow.clock.advance(3601);
    expect(await status(path)).toBe(404);
    expect(await named('dora')).toBeUndefined();
  });

  test('the link ends when an operator makes a person who can sign in an administrator', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    const event = { kind: 'person.changed', what: 'admin given' } as const;
    const store = { ...flow.authz, clock: flow.clock };
    await replacePerson(store, 'alice', (now) => ({ ...now, admin: true }), event);
    expect((await browser.send(page, { name: 'dora', password: NEW }, path)).status).toBe(404);
    await replacePerson(store, 'alice', (now) => ({ ...now, admin: false }), event);
    expect(await status(path)).toBe(404);
    expect(await named('dora')).toBeUndefined();
  });

  test('the audit log has the use of the link as an action of its holder', async () => {
    await use(await link());
    const id = (await named('dora'))?.id;
    const entries = (await flow.authz.stores.audit.open()).texts.map(entryOf);
    const about = entries.filter((entry) => Reflect.get(entry, 'person') === id);
    const by = { who: { person: id }, how: 'link' };
    expect(about).toMatchObject([
      { kind: 'person.added', ...by },
      { kind: 'link.used', what: 'first administrator', ...by },
    ]);
  });
});
