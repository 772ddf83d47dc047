import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { Authenticator, optionsIn } from '../../authz-server/integration/authenticator.fixture.ts';
import type { Changes, Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { PASSWORD, pathOf, signIn } from '../../authz-server/integration/device/device.fixture.ts';
import {
  type GnapFlow,
  openGnap,
  READ,
  REDIRECT,
} from '../../authz-server/integration/gnap/gnap.fixture.ts';
import {
  appFrom,
  codesOn,
  withSecondFactor,
} from '../../authz-server/integration/second-factor.fixture.ts';
import { startStore, STORE_KINDS } from './flow.ts';

/**
 * Forms of our own pages, repeated by a browser that lost the answer. Forms in front of a client:
 * `authz-server/integration/pages/pressed-twice.test.ts`.
 */
describe.each(STORE_KINDS)('on %s: a form that is sent again', (kind) => {
  const parts = new AsyncDisposableStack();
  let gnap: GnapFlow;
  beforeAll(async () => {
    gnap = parts.use(await openGnap(await startStore(kind, parts)));
  });
  afterAll(async () => parts[Symbol.asyncDispose]());

  const server = () => ({ ...gnap.flow.authz, clock: gnap.flow.clock, random: systemRandom });
  /** Each test has a new person. */
  let person: { readonly name: string; readonly password: string };
  let id: string;
  let count = 0;
  beforeEach(async () => {
    person = { name: `person-${(count += 1)}`, password: PASSWORD };
    const passwords = createPasswords(argon2Once);
    const people = { ...gnap.flow.store, stores: gnap.flow.authz.stores, random: systemRandom };
    ({ id } = await addPerson({ ...people, passwords, realms: [] }, person));
  });
  const signInsOf = () => listSignIns(gnap.flow.store, id);
  const grants = async () => (await listAccess(gnap.flow.store, id)).length;
  const endAll = async () => {
    for (const one of await signInsOf()) await endSignIn(gnap.flow.store, one);
  };
  async function signedIn(): Promise<TestBrowser> {
    const browser = gnap.flow.browser();
    await signIn(browser, await browser.open('/account'), person.name);
    return browser;
  }
  /** A copy of the browser as it is now. Its answers do not reach the original. */
  function copyOf(browser: TestBrowser): TestBrowser {
    const copy = gnap.flow.browser();
    copy.plant(browser);
    return copy;
  }
  const isSignedIn = async (browser: TestBrowser) =>
    (await browser.open('/account')).text.includes('/sign-out');
  const sessionOf = ({ cookies }: TestBrowser) =>
    cookies.find(({ name }) => name === 'countersign-session')?.value;

  /**
   * Sends a form from five copies of the browser at once, and once more later. All have the cookies of the
   * start.
   */
  async function pressed(browser: TestBrowser, page: Page, changes: Changes, action?: string) {
    const copies = Array.from({ length: 6 }, () => copyOf(browser));
    const [last, ...first] = copies as [TestBrowser, ...TestBrowser[]];
    const send = async (copy: TestBrowser) => ({
      copy,
      answer: await copy.send(page, changes, action),
    });
    const sent = await Promise.all(first.map(send));
    return [...sent, await send(last)];
  }
  const equal = (sent: Awaited<ReturnType<typeof pressed>>) =>
    new Set(
      sent.map(({ answer: { status, headers, text } }) =>
        JSON.stringify([status, headers.get('location'), text]),
      ),
    ).size === 1;

  describe('the second step', () => {
    let factor: Awaited<ReturnType<typeof withSecondFactor>>;
    beforeEach(async () => {
      factor = await withSecondFactor(server(), person.name);
    });
    async function atStep(browser = gnap.flow.browser()) {
      return { browser, page: await browser.submit(await browser.open('/account'), person) };
    }

    test.each(['code', 'recovery'] as const)(
      'a %s gives each copy the same session, and is used once',
      async (field) => {
        const { browser, page } = await atStep();
        const typed = field === 'code' ? factor.code() : (factor.codes[0] ?? '');
        const sent = await pressed(browser, page, { [field]: typed });
        expect(sent.map(({ answer }) => answer.status)).toEqual(Array(6).fill(303));
        expect(new Set(sent.map(({ copy }) => sessionOf(copy))).size).toBe(1);
        expect(await isSignedIn(sent.at(-1)?.copy ?? browser)).toBe(true);
        expect(await signInsOf()).toHaveLength(1);
        const kept = await gnap.flow.authz.stores.secondFactors.get(id);
        expect(kept?.recovery).toHaveLength(field === 'code' ? 10 : 9);
      },
    );

    test('with another code, in another browser, or from another page gets nothing', async () => {
      const { browser, page } = await atStep();
      const lost = copyOf(browser);
      const typed = { code: factor.code() };
      await browser.send(page, typed);
      expect((await copyOf(lost).send(page, { code: '000000' })).status).toBe(422);
      const stranger = gnap.flow.browser();
      const theirs = await atStep(stranger);
      const step = page.forms[0]?.fields.find(([name]) => name === 'step')?.[1] ?? '';
      expect((await copyOf(stranger).send(page, typed)).status).toBe(403);
      expect((await copyOf(stranger).send(theirs.page, { ...typed, step })).status).toBe(422);
      expect((await copyOf(stranger).send(theirs.page, typed)).status).toBe(422);
      expect(await signInsOf()).toHaveLength(1);
    });

    test('gets nothing after the session was revoked', async () => {
      const { browser, page } = await atStep();
      const lost = copyOf(browser);
      const typed = { code: factor.code() };
      await browser.send(page, typed);
      await endAll();
      expect((await lost.send(page, typed)).status).toBe(422);
      expect(await isSignedIn(lost)).toBe(false);
    });

    test('has no session in clear text in the store', async () => {
      const { artefacts } = gnap.flow.authz.stores;
      using put = jest.spyOn(artefacts, 'put');
      const { browser, page } = await atStep();
      await browser.send(page, { code: factor.code() });
      const kept = put.mock.calls.filter(([{ kind: of }]) => of === 'FormAnswer');
      expect(kept).toHaveLength(1);
      expect(JSON.stringify(kept)).not.toContain(sessionOf(browser));
    });
  });

  test('a passkey gives one session', async () => {
    const browser = await signedIn();
    const authenticator = new Authenticator(gnap.issuer);
    const making = await browser.open('/account/passkeys');
    const made = { do: 'added', name: 'Phone', passkey: authenticator.create(optionsIn(making)) };
    const added = await pressed(browser, making, made, '/account/passkeys');
    expect(added.map(({ answer }) => answer.status)).toEqual(Array(6).fill(303));
    await endAll();
    const other = gnap.flow.browser();
    const page = await other.open('/account');
    const passkey = authenticator.get(optionsIn(page));
    const sent = await pressed(other, page, { passkey, name: '', password: '' });
    expect(sent.map(({ answer }) => answer.status)).toEqual(Array(6).fill(303));
    expect(new Set(sent.map(({ copy }) => sessionOf(copy))).size).toBe(1);
    expect(await signInsOf()).toHaveLength(1);
  });

  test('a set-up second factor shows the same recovery codes, which work', async () => {
    const browser = await signedIn();
    const page = await browser.open('/account/second-factor');
    const code = appFrom(page, server())();
    const sent = await pressed(browser, page, { code }, '/account/second-factor');
    expect(new Set(sent.map(({ answer }) => codesOn(answer).join(' '))).size).toBe(1);
    expect(codesOn(sent[0]?.answer as Page)).toHaveLength(10);
    expect(await isSignedIn(sent.at(-1)?.copy ?? browser)).toBe(true);
  });

  test('a device that has its tokens is shown as connected', async () => {
    const browser = await signedIn();
    const device = await gnap.flow.askAsDevice({ scope: 'openid' });
    const page = await browser.open(pathOf(device));
    const lost = copyOf(browser);
    const first = await browser.submit(page, { decision: 'allow' }, '/device');
    expect((await gnap.flow.poll(device)).body).toHaveProperty('access_token');
    const again = await lost.submit(page, { decision: 'allow' }, '/device');
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  describe('a decision about a GNAP request', () => {
    const path = (page: Page) => new URL(page.url).pathname;
    const asked = async (interact: object = REDIRECT) => {
      const told = await gnap.ask({ ...READ, interact });
      const browser = await signedIn();
      return { told, browser, page: await browser.open(told.body.interact.redirect) };
    };
    const refOf = (page: Page) => ({
      interact_ref: new URL(page.headers.get('location') ?? '').searchParams.get('interact_ref'),
    });

    test('leads to the client with one reference, which works', async () => {
      const { told, browser, page } = await asked();
      const sent = await pressed(browser, page, { decision: 'allow' }, path(page));
      expect(equal(sent)).toBe(true);
      const given = await gnap.proceed(told, refOf(sent.at(-1)?.answer as Page));
      expect(given.body).toHaveProperty('access_token');
    });

    test("is final: a later denial, or the page's address, gives the same reference", async () => {
      const { told, browser, page } = await asked();
      const lost = copyOf(browser);
      const first = await browser.send(page, { decision: 'allow' }, path(page));
      const no = await copyOf(lost).send(page, { decision: 'deny' }, path(page));
      expect(refOf(no)).toEqual(refOf(first));
      expect(refOf(await lost.open(page.url))).toEqual(refOf(first));
      await gnap.proceed(told, refOf(first));
      const over = await lost.open(page.url);
      expect(over.text).toContain('The sign-in is done');
      expect(over.text).not.toContain(refOf(first).interact_ref);
    });

    test('gives nothing to another browser, even of the same person', async () => {
      const { browser, page } = await asked();
      await browser.send(page, { decision: 'allow' }, path(page));
      const other = await signedIn();
      expect((await other.open(page.url)).status).toBe(400);
    });

    test('without a finish, whose client has completed, is shown as done', async () => {
      const { told, browser, page } = await asked({ start: ['redirect'] });
      const lost = copyOf(browser);
      const first = await browser.send(page, { decision: 'allow' }, path(page));
      expect((await gnap.proceed(told, undefined, 'DELETE')).status).toBe(204);
      const again = await lost.send(page, { decision: 'allow' }, path(page));
      expect([again.status, again.text]).toEqual([200, first.text]);
    });
  });

  describe('on the account page', () => {
    test('a changed password is confirmed, with all other sessions revoked', async () => {
      const browser = await signedIn();
      const page = await browser.open('/account/password');
      const change = { current: PASSWORD, password: 'a very different horse', others: 'end' };
      const sent = await pressed(browser, page, change, '/account/password');
      expect(sent.map(({ answer }) => answer.status)).toEqual(Array(6).fill(303));
      expect(await isSignedIn(sent.at(-1)?.copy ?? browser)).toBe(true);
      expect(await signInsOf()).toHaveLength(1);
    });

    test('a revoked session, and a revocation of everything, are confirmed', async () => {
      const browser = await signedIn();
      await signedIn();
      const own = (await signInsOf()).map(({ uid }) => uid);
      const page = await browser.open('/account/end');
      const ends = own.slice(0, 1).map((uid) => ({ end: 'sign-in', id: uid }));
      for (const change of [...ends, { end: 'everything' }]) {
        const lost = copyOf(browser);
        const first = await browser.send(page, change, '/account');
        const again = await lost.send(page, change, '/account');
        expect([again.status, again.headers.get('location'), again.text]).toEqual([
          first.status,
          first.headers.get('location'),
          first.text,
        ]);
        if (first.headers.get('location') === '/sign-out') return;
      }
    });

    test('access that was allowed again can be revoked again', async () => {
      const browser = await signedIn();
      const page = await browser.open('/account/end');
      for (let time = 0; time < 2; time += 1) {
        const device = await gnap.flow.askAsDevice({ scope: 'openid' });
        const confirm = await browser.open(pathOf(device));
        await browser.submit(confirm, { decision: 'allow' }, '/device');
        expect(await grants()).toBeGreaterThan(0);
        await browser.send(page, { end: 'application', id: 'tv' }, '/account');
        expect(await grants()).toBe(0);
      }
    });
  });

  test('GNAP polls that come too fast leave no row', async () => {
    const machine = testKey(`poll-${kind}`);
    const told = await gnap.ask({ ...READ, interact: REDIRECT }, machine);
    using remembered = jest.spyOn(gnap.flow.authz.stores.replay, 'unique');
    const { value: token } = told.body.continue.access_token;
    for (let time = 0; time < 5; time += 1) {
      const early = await gnap.send(
        '/gnap/continue',
        { token, params: { nonce: `${time}` } },
        machine,
      );
      expect(early.body.error.code).toBe('too_fast');
    }
    expect(remembered).not.toHaveBeenCalled();
  });
});
