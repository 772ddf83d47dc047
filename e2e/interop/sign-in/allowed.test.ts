import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { STORE_KINDS } from '../../flows/flow.ts';
import { systemClock } from '#shared/base/clock.ts';
import { appFrom } from '../../../authz-server/integration/second-factor.fixture.ts';
import { signIn, title } from '../../flows/browser.fixture.ts';
import type { Person } from '../../pair/pair.ts';
import { send } from './send.ts';
import { type SignInSite, startSignInSite } from './sign-in-site.ts';

const NAVIGATION = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

/**
 * People who may enter, the identity fields of the application, revocation during a visit, and forms that need a
 * stronger sign-in.
 */
describe.each(STORE_KINDS)('%s', (kind) => {
  let site: SignInSite;
  let bob: Person;
  beforeAll(async () => {
    const members = {
      allow: { groups: ['staff'] },
      authentication: { acr: 'second-factor', methods: ['POST'] },
      upstream: { webSockets: {} },
    };
    site = await startSignInSite('gateway', members, kind);
    bob = await site.pair.addPerson('bob');
    await change(site.alice, ['staff', 'a,b', 'zwölf']);
    await change(bob, ['guests']);
  });
  afterAll(async () => site[Symbol.asyncDispose]());
  beforeEach(() => {
    site.application.reached = [];
  });

  async function change({ id, name }: Person, groups: readonly string[], verified = true) {
    const { people } = site.flow.stores;
    const person = await people.get(id);
    if (person === undefined) throw new Error(`no ${name}`);
    const emails = [{ address: `${name}@example.com`, verified }];
    const version = person.version + 1;
    expect(await people.replace({ ...person, version, profile: { emails, groups } })).toBe(true);
  }

  async function cookieOf(person = site.alice) {
    const visitor = await site.signedIn({}, person);
    const cookies = await visitor.context.cookies(site.origin);
    const found = cookies.filter(({ name }) => name.startsWith('countersign-session-'));
    return { ...visitor, cookie: found.map(({ name, value }) => `${name}=${value}`).join('; ') };
  }

  test("the application gets the person's address and groups in separate fields", async () => {
    const { cookie } = await cookieOf();
    site.application.reached = [];
    expect((await send(site.origin, { headers: { cookie } })).status).toBe(200);
    expect(site.application.reached[0]?.headers).toMatchObject({
      'x-auth-email': 'alice@example.com',
      'remote-email': 'alice@example.com',
      'x-auth-groups': 'staff,a%2Cb,zw%C3%B6lf',
      'remote-groups': 'staff,a%2Cb,zw%C3%B6lf',
    });
  });

  test('an unverified address is not sent', async () => {
    const { cookie } = await cookieOf();
    await change(site.alice, ['staff'], false);
    site.application.reached = [];
    await send(site.origin, { headers: { cookie } });
    expect(site.application.reached[0]?.headers).toMatchObject({ 'x-auth-email': '' });
    await change(site.alice, ['staff', 'a,b', 'zwölf']);
  });

  test('a person outside the allowed groups gets a page with a link to sign in as another person', async () => {
    const { page, cookie } = await cookieOf(bob);
    expect(await title(page)).toBe('You have no access');
    await page.getByText('You are signed in as bob.').waitFor();
    expect((await send(site.origin, { headers: { cookie } })).status).toBe(403);
    expect(site.application.reached).toEqual([]);
    await page.getByRole('link', { name: 'Sign out' }).click();
    expect(await title(page)).toBe('Sign out?');
  });

  test('adding or removing a group applies from the next request on', async () => {
    const { cookie } = await cookieOf(bob);
    const ask = async () =>
      (await send(site.origin, { headers: { cookie, ...NAVIGATION } })).status;
    expect(await ask()).toBe(403);
    await change(bob, ['guests', 'staff']);
    expect(await ask()).toBe(200);
    await change(bob, ['guests']);
    expect(await ask()).toBe(403);
  });

  test('an application that is not listed may not enter either', async () => {
    const client = await site.pair.addClient('notes:read');
    const grant = { grant_type: 'client_credentials', resource: `${site.origin}/` };
    const { body } = await site.pair.post('/token', grant, client);
    const authorization = `Bearer ${String(body['access_token'])}`;
    expect((await send(site.origin, { headers: { authorization } })).status).toBe(403);
  });

  async function open(cookie: string, origin = site.origin) {
    const socket = new WebSocket(site.origin.replace('http', 'ws'), {
      headers: { cookie },
      origin,
    });
    return new Promise<WebSocket | number>((resolve) => {
      socket.on('open', () => resolve(socket));
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
      socket.on('error', () => {});
    });
  }
  const closed = (socket: WebSocket | number) =>
    new Promise((resolve) => {
      if (typeof socket === 'number') throw new Error(`not open: ${socket}`);
      socket.on('close', resolve);
    });

  test('a WebSocket ends with the session or the group membership', async () => {
    const { cookie, page } = await cookieOf();
    const first = closed(await open(cookie));
    await change(site.alice, ['guests']);
    await first;
    await change(site.alice, ['staff']);
    const second = closed(await open(cookie));
    await page.getByRole('button', { name: 'Leave' }).click();
    await second;
    expect(await open(cookie)).toBe(401);
  });

  test('RFC 6455 section 10.2: a page of another origin cannot open a WebSocket', async () => {
    const { cookie } = await cookieOf();
    expect(await open(cookie, 'http://127.0.0.1:1')).toBe(403);
  });

  test('ten callbacks at once at any process give one session', async () => {
    const { context } = await cookieOf();
    const cookies = await context.cookies(site.pair.issuer);
    const signedIn = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const begun = await send(`${site.origin}/wanted`, { headers: NAVIGATION });
    const cookie = begun.cookies.map((line) => line.split(';')[0]).join('; ');
    const { headers } = await send(begun.headers.location ?? '', { headers: { cookie: signedIn } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(headers.location ?? '', { headers: { cookie } })),
    );
    const lines = answers.flatMap((answer) => answer.cookies);
    const sessions = lines.flatMap(
      (line) => /countersign-session-[^=]*=[\w-]{43}/.exec(line)?.[0] ?? [],
    );
    expect(sessions).toHaveLength(1);
    expect((await send(site.origin, { headers: { cookie: sessions[0] } })).status).toBe(200);
  });

  test('RFC 9470: a form that needs a second factor is not forwarded; its person sets one up and returns', async () => {
    const person = await site.pair.addPerson('dora');
    await change(person, ['staff']);
    const { context, page } = await site.signedIn({}, person);
    site.application.reached = [];
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(`${site.origin}/notes`);
    expect(await title(page)).toBe('Sign in again for this');
    await page.getByText('The server did not accept what you have just sent').waitFor();
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: 'Sign in in another tab' }).click(),
    ]);
    await tab.getByText('asks for a second factor or a passkey').waitFor();
    await signIn(tab, person);
    await tab.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    const code = appFrom({ text: await tab.content() }, { clock: systemClock });
    await tab.getByLabel('Code of six digits').fill(code());
    await tab.getByRole('button', { name: 'Continue', exact: true }).click();
    await tab.getByRole('link', { name: 'I have saved them: continue' }).click();
    await tab.waitForURL(`${site.origin}/`);
    expect(site.application.reached.map(({ method }) => method)).not.toContain('POST');
    await page.reload();
    expect(await page.locator('#at').innerText()).toBe('POST /notes');
    expect(site.application.reached.at(-1)?.body).toBe('note=what+I+wrote');
  });
});
