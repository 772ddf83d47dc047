import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from '../../authz-server/integration/browser.fixture.ts';
import { type Flow, startFlowOn, STORE_KINDS } from '../flows/flow.ts';
import { alsoAt, asksToSignIn, browserAt, newPerson, signedIn, signIn } from '../flows/person.ts';
import type { Person } from '../pair/pair.ts';

/** The links of `user recover` and the page for a new password, at two authorization servers on one store. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    const often = { burst: 1000, per: 1 };
    const limits = { address: often, account: often, signIn: often };
    flow = await startFlowOn(kind, { authz: 2, settings: { limits } });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  async function recover(name: string, ...options: readonly string[]): Promise<string> {
    const { link } = await flow.pair.cli('user', 'recover', name, ...options);
    return new URL(String(link)).pathname;
  }

  async function enters(person: Person, password: string): Promise<boolean> {
    const browser = browserAt(flow);
    const page = await signIn(browser, await browser.open('/account'), { ...person, password });
    return page.status === 200;
  }

  /**
   * Sends ten forms with different passwords at once to both servers. Returns which passwords sign in
   * afterwards.
   */
  async function race(
    person: Person,
    send: (password: string, server: number) => Promise<Page>,
  ): Promise<{ readonly pages: readonly Page[]; readonly entered: readonly boolean[] }> {
    const passwords = Array.from({ length: 10 }, (_, n) => `the new password ${n}`);
    const pages = await Promise.all(passwords.map((password, n) => send(password, n % 2)));
    const entered: boolean[] = [];
    for (const password of passwords) entered.push(await enters(person, password));
    return { pages, entered };
  }

  test('ten at once use a link: one password is set, nine change nothing', async () => {
    const person = await newPerson(flow);
    const path = await recover(person.name);
    const browser = browserAt(flow);
    const page = await browser.open(path);
    const browsers = [browser, alsoAt(flow, browser, 1)];
    const { pages, entered } = await race(person, (password, server) =>
      (browsers[server] ?? browser).send(page, { password }, path),
    );
    expect(pages.map(({ status }) => status === 200)).toEqual(entered);
    expect(entered.filter(Boolean)).toHaveLength(1);
    expect(pages.filter(({ status }) => status === 404)).toHaveLength(9);
  });

  test('ten password changes at once with the old password: one is done', async () => {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const page = await browser.open('/account/password');
    const browsers = [browser, alsoAt(flow, browser, 1)];
    const { pages, entered } = await race(person, (password, server) =>
      (browsers[server] ?? browser).send(
        page,
        { current: person.password, password },
        '/account/password',
      ),
    );
    expect(pages.map(({ status }) => status === 303)).toEqual(entered);
    expect(entered.filter(Boolean)).toHaveLength(1);
  });

  test('a link that was used at one server is invalid at the other, and so is an earlier link', async () => {
    const person = await newPerson(flow);
    const before = await recover(person.name);
    const path = await recover(person.name);
    const elsewhere = browserAt(flow, 1);
    expect((await elsewhere.open(before)).status).toBe(404);
    const late = await elsewhere.open(path);
    const browser = browserAt(flow);
    const password = 'the new password';
    await browser.send(await browser.open(path), { password }, path);
    const refused = await elsewhere.send(late, { password: 'that of the second one' }, path);
    expect(refused.status).toBe(404);
    expect(await enters(person, password)).toBe(true);
  });

  test("link scanners use up no link: HEAD, GET, and POST without the form's fields", async () => {
    const person = await newPerson(flow);
    const path = await recover(person.name);
    for (const server of [0, 1]) {
      const scanner = browserAt(flow, server);
      expect((await scanner.request('HEAD', path)).status).toBe(200);
      expect((await scanner.request('GET', path)).status).toBe(200);
      expect((await scanner.request('POST', path, new URLSearchParams())).status).toBe(403);
    }
    expect(await enters(person, person.password)).toBe(true);
    expect((await browserAt(flow).open(path)).status).toBe(200);
  });

  test('a password change signs a session thief out, at the other server, too', async () => {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const thief = alsoAt(flow, browser, 1);
    expect(asksToSignIn(await thief.open('/account'))).toBe(false);
    const page = await browser.open('/account/password');
    const fields = { current: person.password, password: 'the new password' };
    await browser.send(page, fields, '/account/password');
    expect(asksToSignIn(await thief.open('/account'))).toBe(true);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test('a session thief cannot change the password without the old one', async () => {
    const person = await newPerson(flow);
    const thief = alsoAt(flow, await signedIn(flow, person), 1);
    const page = await thief.open('/account/password');
    const fields = { current: 'a guess', password: 'that of the thief' };
    expect((await thief.send(page, fields, '/account/password')).status).toBe(422);
    expect(await enters(person, person.password)).toBe(true);
  });
});
