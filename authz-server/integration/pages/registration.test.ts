import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { systemRandom } from '#shared/base/random.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { removePerson } from '#shared/people/remove-person.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';

const PATH = '/register';
const ADDRESS = 'dora@example.com';
const NEW = 'another horse, another battery';
const mail = { host: 'mail.invalid', from: 'accounts@example.com' };
const OPEN = { mail, people: { registration: 'open' } };

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow(OPEN);
});
afterEach(async () => flow[Symbol.asyncDispose]());

const ask = async (browser: TestBrowser, changes: Changes): Promise<Page> =>
  browser.send(await browser.open(PATH), changes, PATH);

/** Returns the waiting messages, including those that were read before. */
async function waiting() {
  const now = flow.clock.now();
  return flow.authz.stores.outbox.take(now + 1, now + 1, 100);
}

/** Returns the path of a new link. */
async function link(address = ADDRESS, mailed = true, asked = false): Promise<string> {
  const links = createRegistrationLinks({ stores: flow.authz.stores, random: systemRandom });
  const origin = { mailed, ...(asked && { asked }) };
  return `${PATH}/${(await links.make(address, origin)).secret}`;
}

/** Opens a link in a new browser, and sends its form. */
async function use(path: string, changes: Changes = {}): Promise<Page> {
  const browser = flow.browser();
  return browser.send(await browser.open(path), { name: 'dora', password: NEW, ...changes }, path);
}

async function enters(name: string, password = NEW): Promise<boolean> {
  const browser = flow.browser();
  const page = await browser.submit(await browser.open('/account'), { name, password });
  return page.status === 200;
}

const named = (name: string) => flow.authz.stores.people.getByName(name);

describe('people.registration', () => {
  test.each([
    ['off', 404, 404],
    ['invited', 404, 200],
  ])(
    'with %s no page asks for an address, and none links to such a page',
    async (registration, at, of) => {
      await flow[Symbol.asyncDispose]();
      flow = await openDeviceFlow({ mail, people: { registration } });
      const browser = flow.browser();
      expect((await browser.open(PATH)).status).toBe(at);
      const form = new URLSearchParams({ address: ADDRESS });
      expect((await browser.request('POST', PATH, form)).status).toBe(at);
      expect((await browser.open('/account')).text).not.toContain(PATH);
      expect((await browser.open(await link())).status).toBe(of);
      expect((await browser.open(await link(ADDRESS, true, true))).status).toBe(404);
      expect(await waiting()).toEqual([]);
    },
  );

  test('with open the sign-in page links to the registration', async () => {
    const { text } = await flow.browser().open('/account');
    expect(text).toContain('<a href="/register">Create an account</a>');
  });
});

describe('the form that requests a registration link', () => {
  test('enumeration: known and unknown addresses get the same answer and one message, without a lookup', async () => {
    await setProfile(flow.authz, 'alice', () => ({
      emails: [{ address: 'alice@example.com', verified: true }],
    }));
    const { search } = flow.authz.stores.people;
    let looks = 0;
    Object.assign(flow.authz.stores.people, {
      search: (key: string) => ((looks += 1), search(key)),
    });
    const pages: Page[] = [];
    const browser = flow.browser();
    for (const address of ['alice@example.com', 'nobody@example.com']) {
      pages.push(await ask(browser, { address }));
    }
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    expect(pages[0]?.text).toBe(pages[1]?.text);
    expect(looks).toBe(0);
    expect(new Set((await waiting()).map(({ kind, to }) => `${kind} ${to}`))).toEqual(
      new Set(['registration alice@example.com', 'registration nobody@example.com']),
    );
  });

  test('one address gets at most three messages per hour, one waits, and one network address can request ten', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const address = n % 2 ? ADDRESS : ADDRESS.toUpperCase();
      statuses.push((await ask(flow.browser(), { address })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    for (let n = 0; n < 6; n += 1) await ask(flow.browser(), { address: `x${n}@example.com` });
    const refused = await ask(flow.browser(), { address: 'y@example.com' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(new Set((await waiting()).map(({ to }) => to?.toLowerCase())).size).toBe(7);
    expect((await waiting()).length).toBeLessThanOrEqual(8);
  });

  test('requests from many networks leave a limited number of rows', async () => {
    await flow[Symbol.asyncDispose]();
    flow = await openDeviceFlow({
      ...OPEN,
      trustedProxies: ['127.0.0.1'],
      limits: { allVisits: { burst: 5, per: 60 } },
    });
    const statuses: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const browser = flow.browser();
      browser.fields = { ...browser.fields, 'x-forwarded-for': `198.51.${n}.7` };
      statuses.push((await ask(browser, { address: `x${n}@example.com` })).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(await waiting()).toHaveLength(5);
  });

  test.each<[string, Changes, number]>([
    ['no address', { address: 'dora' }, 422],
    ['nothing', { address: undefined }, 422],
    ['header injection', { address: `${ADDRESS}\r\nBcc: x@attacker.example` }, 422],
    ['a list', { address: `${ADDRESS},x@attacker.example` }, 422],
    ['a single label', { address: 'dora@localhost' }, 422],
    ['an address of a host', { address: 'dora@[127.0.0.1]' }, 422],
    ['quotes', { address: '"dora"@example.com' }, 422],
    ['two addresses', { address: [ADDRESS, 'x@attacker.example'] }, 400],
    ['a form of more than 16 KiB', { address: 'x'.repeat(17_000) }, 413],
    ['the token of another browser (CSRF)', { address: ADDRESS, csrf: 'x'.repeat(65) }, 403],
  ])('with %s the form is refused, and no message waits', async (_, changes, status) => {
    expect((await ask(flow.browser(), changes)).status).toBe(status);
    expect(await waiting()).toEqual([]);
  });
});

describe('a registration link', () => {
  test('a link makes an account with a name, a password and the verified address, and signs no person in', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const done = await browser.send(page, { name: ' Dora ', password: NEW }, path);
    expect(done.text).toContain('Your name is dora');
    const person = await named('dora');
    expect(person?.profile).toEqual({ emails: [{ address: ADDRESS, verified: true }] });
    const account = await browser.open('/account');
    expect(account.forms.some(({ action }) => action === '/sign-in')).toBe(true);
    expect(await enters('dora')).toBe(true);
    expect((await browser.open(path)).status).toBe(404);
  });

  test('the browser that made the account causes no message about a new sign-in, and another browser does', async () => {
    const path = await link();
    const browser = flow.browser();
    await browser.send(await browser.open(path), { name: 'dora', password: NEW }, path);
    const signIn = async (at: TestBrowser, password: string) =>
      at.submit(await at.open('/account'), { name: 'dora', password });
    expect((await signIn(browser, NEW)).status).toBe(200);
    expect(await waiting()).toEqual([]);
    expect((await signIn(flow.browser(), NEW)).status).toBe(200);
    expect(await waiting()).toMatchObject([{ kind: 'new-sign-in' }]);
  });

  test('a link that makes no account leaves its browser unknown', async () => {
    const path = await link();
    const browser = flow.browser();
    const form = { name: 'alice', password: NEW };
    expect((await browser.send(await browser.open(path), form, path)).status).toBe(422);
    expect(browser.cookies.map(({ name }) => name)).not.toContain('countersign-known');
  });

  test('a link is sent to the ASCII form of a domain (RFC 5891)', async () => {
    await ask(flow.browser(), { address: 'dora@bücher.example' });
    expect(await waiting()).toMatchObject([{ to: 'dora@xn--bcher-kva.example' }]);
  });

  test('a name that combines the brand and a service makes no account, and the link stays valid', async () => {
    const path = await link();
    const { name: brand } = flow.authz.config.brand;
    const asked = `${brand}-support`.toLowerCase();
    expect((await use(path, { name: asked })).status).toBe(422);
    expect(await named(asked)).toBeUndefined();
    expect((await use(path)).status).toBe(200);
  });

  test('a link makes an account with a passkey and no password', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    const passkey = new Authenticator(flow.authz.config.issuer).create(optionsIn(page));
    const done = await browser.send(page, { name: 'dora', password: '', passkey }, path);
    expect(done.status).toBe(200);
    const { id = '', password_hash } = (await named('dora')) ?? {};
    expect(password_hash).toBeUndefined();
    expect(await flow.authz.stores.passkeys.of(id)).toHaveLength(1);
  });

  test('the passkey of another person makes no account, and the link stays valid', async () => {
    const authenticator = new Authenticator(flow.authz.config.issuer);
    const { passkeys } = flow.authz.stores;
    const register = async (path: string, name: string) => {
      const browser = flow.browser();
      const page = await browser.open(path);
      // One authenticator gives both pages valid answers with the same id (Web Authentication section 7.1, step 26).
      const passkey = authenticator.create(optionsIn(page));
      return browser.send(page, { name, password: '', passkey }, path);
    };
    const [first, second] = [await link('one@example.com'), await link('two@example.com')];
    expect((await register(first, 'dora')).status).toBe(200);
    const owner = (await named('dora'))?.id ?? '';
    const kept = await passkeys.of(owner);
    expect(kept).toMatchObject([{ id: authenticator.id }]);
    expect((await register(second, 'eve')).status).toBe(422);
    expect(await named('eve')).toBeUndefined();
    expect(await passkeys.of(owner)).toEqual(kept);
    expect((await use(second, { name: 'eve' })).status).toBe(200);
    expect(await enters('eve')).toBe(true);
  });

  test('a link that an operator makes and shows, and does not send, verifies no address', async () => {
    await use(await link(ADDRESS, false));
    expect((await named('dora'))?.profile?.emails).toEqual([{ address: ADDRESS, verified: false }]);
  });

  test.each([
    ['GET', undefined, {}, 200],
    ['HEAD', undefined, {}, 200],
    ['POST', new URLSearchParams({ name: 'dora', password: NEW }), {}, 403],
    ['POST', '{}', { 'content-type': 'application/json' }, 415],
    ['DELETE', undefined, {}, 501],
  ])('a link that a program opens (%s %s) stays valid', async (method, form, fields, status) => {
    const path = await link();
    for (let time = 0; time < 3; time += 1) {
      expect((await flow.browser().request(method, path, form, fields)).status).toBe(status);
    }
    expect((await use(path, { name: '', password: '' })).status).toBe(422);
    expect((await use(path)).status).toBe(200);
  });

  test.each<[string, Changes, number]>([
    ['of another person', { name: 'alice' }, 422],
    ['of another person, in capitals', { name: 'ALICE' }, 422],
    ['that looks like somebody’s', { name: 'a1ice' }, 422],
    ['that looks like somebody’s, with signs', { name: 'al.i-ce' }, 422],
    ['of the operator', { name: 'admin' }, 422],
    ['that looks like one of the operator', { name: 'r0ot' }, 422],
    ['with letters of another script', { name: 'аlice' }, 422],
    ['with full-width letters of somebody', { name: 'ａｌｉｃｅ' }, 422],
    ['that is an address', { name: 'alice@example.com' }, 422],
    ['with markup', { name: '<b>dora' }, 422],
    ['with a line end', { name: 'do\nra' }, 422],
    ['of one letter', { name: 'd' }, 422],
    ['of 65 letters', { name: 'd'.repeat(65) }, 422],
    ['that is missing', { name: undefined }, 422],
    ['given twice', { name: ['dora', 'eve'] }, 400],
    ['with the token of another browser (CSRF)', { csrf: 'x'.repeat(65) }, 403],
    ['with a short password', { password: '1234567' }, 422],
    ['with a common password', { password: 'Football' }, 422],
    ['with an invalid passkey', { passkey: '{}' }, 422],
  ])(
    'a name %s is refused, makes no account, and the link stays valid',
    async (_, changes, status) => {
      const path = await link();
      expect((await use(path, changes)).status).toBe(status);
      expect(await named('dora')).toBeUndefined();
      expect((await use(path)).status).toBe(200);
    },
  );

  test('names to which rights are assigned, and names of removed people, are refused', async () => {
    await flow[Symbol.asyncDispose]();
    const resource = 'http://localhost:3001';
    flow = await openDeviceFlow({
      ...OPEN,
      resource,
      spaces: [
        {
          url: `${resource}/files/`,
          realm: 'files',
          schemes: ['Basic'],
          scopes: { safe: ['files:read'] },
          grants: { people: { Zora: ['files:read'] } },
        },
      ],
    });
    await removePerson(
      {
        ...flow.store,
        stores: flow.authz.stores,
        random: systemRandom,
        passwords: createPasswords(argon2Once),
        realms: [],
      },
      'bob',
    );
    for (const name of ['zora', 'z0ra', 'bob']) {
      expect((await use(await link(), { name })).status).toBe(422);
      expect(await named(name)).toBeUndefined();
    }
  });

  test('a link causes one event in the audit log, by the holder of the link and without a name', async () => {
    await use(await link());
    const entries = (await flow.authz.stores.audit.open()).texts.map(entryOf);
    const id = (await named('dora'))?.id;
    const about = entries.filter((entry) => Reflect.get(entry, 'person') === id);
    expect(about).toMatchObject([{ kind: 'person.added', who: { person: id }, how: 'link' }]);
    expect(JSON.stringify(about)).not.toContain('dora');
  });

  test('if a link is used ten times at the same time, it makes one account', async () => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        browser.send(page, { name: `dora${'abcdefghij'.charAt(n)}`, password: NEW }, path),
      ),
    );
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1);
    const made: unknown[] = [];
    for (const letter of 'abcdefghij') made.push(await named(`dora${letter}`));
    expect(made.filter((one) => one !== undefined)).toHaveLength(1);
  });

  test('if two links use the same name at the same time, one gets it, and the other stays valid', async () => {
    const paths = [await link('one@example.com'), await link('two@example.com')];
    const pages = await Promise.all(paths.map((path) => use(path)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200, 422]));
    const loser = paths.find((_, n) => pages[n]?.status === 422) ?? '';
    expect((await use(loser, { name: 'eve' })).status).toBe(200);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['after 24 hours', async () => flow.clock.advance(86_400)],
    ['after another link to the same address', () => link(ADDRESS.toUpperCase())],
    [
      'to an address that is somebody’s by now',
      () =>
        setProfile(flow.authz, 'alice', () => ({
          emails: [{ address: ADDRESS.toUpperCase(), verified: true }],
        })),
    ],
  ])('a link %s is invalid', async (_, meanwhile) => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    await meanwhile();
    const late = await browser.send(page, { name: 'dora', password: NEW }, path);
    expect([late.status, late.text.includes('This link does not work')]).toEqual([404, true]);
    expect(await named('dora')).toBeUndefined();
  });

  test("another person's unverified claim does not prevent an account", async () => {
    await setProfile(flow.authz, 'alice', () => ({
      emails: [{ address: ADDRESS, verified: false }],
    }));
    expect((await use(await link())).status).toBe(200);
    expect(await enters('alice', PASSWORD)).toBe(true);
  });
});

describe('strangers who request or use registration links', () => {
  test('a stranger who requests a link does not void a link that an operator made', async () => {
    const path = await link(ADDRESS, false);
    await link(ADDRESS, true, true);
    expect((await use(path)).status).toBe(200);
  });

  test('a stranger can try twenty names with one link, and then one per minute', async () => {
    const path = await link();
    const statuses: number[] = [];
    for (let n = 0; n < 21; n += 1) statuses.push((await use(path, { name: 'alice' })).status);
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 422));
    expect(statuses[20]).toBe(429);
    flow.clock.advance(60);
    expect((await use(path)).status).toBe(200);
  });
});
