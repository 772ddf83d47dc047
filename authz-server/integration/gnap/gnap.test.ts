import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { interactionHash } from '#shared/gnap/interaction-hash.ts';
import { type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { signIn } from '../device/device.fixture.ts';
import {
  CALLBACK,
  type GnapFlow,
  NONCE,
  openGnap,
  PHOTOS,
  READ,
  REDIRECT,
} from './gnap.fixture.ts';

let gnap: GnapFlow;
beforeEach(async () => {
  gnap = await openGnap();
});
afterEach(async () => gnap[Symbol.asyncDispose]());

describe('RFC 9635: access that a person allows', () => {
  test('a redirect with finish gives the hash, the reference, and a token that is bound to the key', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    expect(asked.status).toBe(200);
    expect(asked.headers.get('cache-control')).toBe('no-store');
    expect(asked.body).toEqual({
      interact: {
        redirect: expect.stringMatching(/\/gnap\/interact\/[\w-]{22}$/),
        finish: expect.stringMatching(/^[\w-]{22}$/),
        expires_in: 600,
      },
      continue: {
        uri: `${gnap.issuer}/gnap/continue`,
        wait: 5,
        access_token: { value: expect.stringMatching(/^[\w-]{44}$/) },
      },
    });
    const { browser, page } = await gnap.onPage(asked);
    expect(page.text).toContain('Prints');
    expect(page.text).toContain('client.example');
    const end = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    const back = new URL(end.headers.get('location') ?? '');
    expect(back.origin + back.pathname).toBe(CALLBACK);
    const interact_ref = back.searchParams.get('interact_ref') ?? '';
    expect(back.searchParams.get('hash')).toBe(
      interactionHash({
        clientNonce: NONCE,
        serverNonce: asked.body.interact.finish,
        interactRef: interact_ref,
        grantEndpoint: `${gnap.issuer}/gnap`,
      }),
    );
    const polled = await gnap.proceed(asked);
    expect(polled.body).not.toHaveProperty('access_token');
    const given = await gnap.proceed(asked, { interact_ref });
    expect(given.body.access_token).toEqual({
      value: expect.any(String),
      access: ['photos:read'],
      expires_in: 600,
      manage: { uri: expect.any(String), access_token: { value: expect.any(String) } },
    });
    const { value } = given.body.access_token;
    expect(decodeProtectedHeader(value)).toMatchObject({ typ: 'gnap-at+jwt' });
    expect(decodeJwt(value)).toMatchObject({
      aud: PHOTOS,
      scope: 'photos:read',
      access: ['photos:read'],
      cnf: { jwk: gnap.key.byValue.jwk },
      sub: gnap.flow.people.alice.id,
      grant_id: expect.any(String),
      sub_gen: 0,
    });
    expect(await gnap.flow.grants('alice')).toBe(1);
    const replayed = await gnap.proceed(asked, { interact_ref });
    expect(replayed).toMatchObject({ status: 400, body: { error: { code: 'too_many_attempts' } } });
  });

  test('a user code is entered at /device, and the page shows the code to compare', async () => {
    const asked = await gnap.ask({ ...READ, interact: { start: ['user_code', 'user_code_uri'] } });
    const { user_code, user_code_uri } = asked.body.interact;
    expect(user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(user_code_uri).toEqual({ code: user_code, uri: `${gnap.issuer}/device` });
    const browser = gnap.flow.browser();
    const first = await browser.open(`/device?user_code=${user_code.toLowerCase()}`);
    const page = await signIn(browser, first, 'alice');
    expect(page.text).toContain(user_code);
    const done = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    expect(done.status).toBe(200);
    const given = await gnap.proceed(asked);
    expect(given.body.access_token.access).toEqual(['photos:read']);
  });

  test('section 5: a client that polls too early gets an error, and may continue', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    const token = asked.body.continue.access_token.value;
    const early = await gnap.send('/gnap/continue', { token });
    expect(early).toMatchObject({
      status: 400,
      body: { error: { code: 'too_fast' }, continue: { wait: 5 } },
    });
    expect((await gnap.proceed(asked)).body).toEqual({ continue: asked.body.continue });
  });

  test('a refusal ends the request', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    const { browser, page } = await gnap.onPage(asked);
    const end = await browser.submit(page, { decision: 'deny' }, new URL(page.url).pathname);
    const back = new URL(end.headers.get('location') ?? '');
    const ref = { interact_ref: back.searchParams.get('interact_ref') };
    expect((await gnap.proceed(asked, ref)).body).toEqual({
      error: { code: 'user_denied', description: 'the person refused' },
    });
    expect((await gnap.proceed(asked)).body.error.code).toBe('invalid_continuation');
    expect(await gnap.flow.grants('alice')).toBe(0);
  });

  test('the end of the grant on the account page ends token and continuation', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    const back = await gnap.allow(asked);
    const ref = { interact_ref: back.searchParams.get('interact_ref') };
    await gnap.proceed(asked, ref);
    expect((await gnap.proceed(asked, undefined, 'DELETE')).status).toBe(204);
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect((await gnap.proceed(asked)).body.error.code).toBe('invalid_continuation');
  });
});

describe('a client that acts for itself', () => {
  test('a registered client gets a token at once, and can rotate it', async () => {
    const key = testKey('machine', 'ES256');
    await gnap.register(key);
    const given = await gnap.ask(READ, key);
    expect(given.status).toBe(200);
    const { value, manage } = given.body.access_token;
    expect(decodeJwt(value)).toMatchObject({ sub: expect.stringMatching(/^gnap-/) });
    const path = new URL(manage.uri).pathname;
    const rotated = await gnap.send(path, { token: manage.access_token.value }, key);
    expect(rotated.body.access_token.value).not.toBe(value);
    const again = await gnap.send(
      path,
      { token: manage.access_token.value, params: { nonce: '1' } },
      key,
    );
    expect(again.body.error.code).toBe('invalid_rotation');
  });

  test('an unknown client gets the error that the request needs a person', async () => {
    expect((await gnap.ask(READ)).body.error.code).toBe('request_denied');
  });
});

test('section 2.5.3: the sign-in page is in the language that the client requests, also after a wrong password', async () => {
  const { ask, flow } = gnap;
  const hints = { ui_locales: ['de'] };
  const told = await ask({
    access_token: { access: ['photos:read'] },
    interact: { start: ['redirect'], hints },
  });
  const { pathname } = new URL(told.body.interact.redirect);
  const browser = flow.browser();
  const asked = await browser.open(pathname);
  expect(asked.text).toContain('<html lang="de">');
  const wrong = await browser.submit(asked, { name: 'alice', password: 'wrong' });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('<html lang="de">')]);
});

describe('section 2.5.2.2: finish by push', () => {
  test('the client is notified at once, and continues with the reference', async () => {
    const told: unknown[] = [];
    const client = createServer((request, response) => {
      void json(request).then((body) => {
        told.push(body);
        response.end();
      });
    });
    await once(client.listen(0, '127.0.0.1'), 'listening');
    const { port } = client.address() as AddressInfo;
    await using own = await openGnap({
      gnap: { clients: 'anybody', push: [`127.0.0.1:${port}`] },
    });
    const uri = `http://127.0.0.1:${port}/told`;
    const finish = { method: 'push', uri, nonce: NONCE };
    const asked = await own.ask({ ...READ, interact: { start: ['redirect'], finish } });
    const { browser, page } = await own.onPage(asked);
    expect(page.text).toContain(`127.0.0.1:${port}`);
    const done = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    expect(done.status).toBe(200);
    expect(told).toEqual([{ hash: expect.any(String), interact_ref: expect.any(String) }]);
    const given = await own.proceed(asked, {
      interact_ref: (told[0] as { interact_ref: string }).interact_ref,
    });
    expect(given.body.access_token.access).toEqual(['photos:read']);
    client.close();
  });

  test.each([
    'https://127.0.0.1:8443/told',
    'https://127.0.0.1/told',
    'https://[::1]/told',
    'https://[::ffff:127.0.0.1]/told',
    'https://0.0.0.0/told',
    'https://2130706433/told',
    'https://169.254.169.254/told',
    'https://client.example:8443/told',
    'http://localhost/told',
  ])('section 11.36: the configuration does not permit a push to %s', async (uri) => {
    const finish = { method: 'push', uri, nonce: NONCE };
    const asked = await gnap.ask({ ...READ, interact: { start: ['redirect'], finish } });
    expect(asked.body.error).toEqual({
      code: 'invalid_interaction',
      description: 'finish: gnap.push does not permit this uri',
    });
  });

  test('section 11.36: a host name of this machine gets no push', async () => {
    const finish = { method: 'push', uri: 'https://localhost/told', nonce: NONCE };
    const asked = await gnap.ask({ ...READ, interact: { start: ['redirect'], finish } });
    const { browser, page } = await gnap.onPage(asked);
    const done = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    expect(done.status).toBe(200);
  });

  test('a person who unticks a scope that an action needs has refused the action', async () => {
    const access = { type: 'photo-api', actions: ['write'] };
    const asked = await gnap.ask({ access_token: { access: [access] }, interact: REDIRECT });
    const { browser, page } = await gnap.onPage(asked);
    const part = { decision: 'allow', item: `${PHOTOS} photos:read` };
    const end = await browser.submit(page, part, new URL(page.url).pathname);
    const url = new URL(end.headers.get('location') ?? '');
    const ref = { interact_ref: url.searchParams.get('interact_ref') };
    expect((await gnap.proceed(asked, ref)).body.error.code).toBe('user_denied');
  });
});

describe('a decision is remembered as in OAuth', () => {
  /** Opens the page of a request for a person who is already signed in. */
  async function again(browser: TestBrowser, key: TestKey, body: object = READ) {
    gnap.flow.clock.advance(1); // two equal requests within a second have one signature
    const asked = await gnap.ask({ ...body, interact: REDIRECT }, key);
    return { asked, page: await browser.open(asked.body.interact.redirect) };
  }

  test('a person is not asked again about a registered client, unless it requests more access', async () => {
    const key = testKey('app', 'ES256');
    await gnap.register(key);
    const asked = await gnap.ask({ ...READ, interact: REDIRECT }, key);
    const { browser, page } = await gnap.onPage(asked);
    await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    const second = await again(browser, key);
    const back = new URL(second.page.headers.get('location') ?? '');
    const ref = { interact_ref: back.searchParams.get('interact_ref') };
    const given = await gnap.proceed(second.asked, ref, 'POST', key);
    expect(given.body.access_token.access).toEqual(['photos:read']);
    const more = await again(browser, key, { access_token: { access: ['photos:write'] } });
    expect(more.page.status).toBe(200);
  });

  test('a person is asked each time about an unknown client', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    const { browser, page } = await gnap.onPage(asked);
    await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    expect((await again(browser, gnap.key)).page.status).toBe(200);
  });
});

describe('the texts of the pages', () => {
  test('after a request without a code or a finish the last page speaks of access, not of a device', async () => {
    const asked = await gnap.ask({ ...READ, interact: { start: ['redirect'] } });
    const { browser, page } = await gnap.onPage(asked);
    const done = await browser.submit(page, { decision: 'deny' }, new URL(page.url).pathname);
    expect(done.text).toContain('Nothing was allowed');
    expect(done.text).not.toContain('Nothing was connected');
  });

  test('the account page shows the access of a GNAP client', async () => {
    const asked = await gnap.ask({ access_token: { access: ['mails:read'] }, interact: REDIRECT });
    const { browser, page } = await gnap.onPage(asked);
    await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    const account = await browser.open('/account');
    expect(account.text).toContain('Prints');
    expect(account.text).toContain('mails:read');
  });

  test('the page of a decided code shows the decision only to the person who decided', async () => {
    const asked = await gnap.ask({ ...READ, interact: { start: ['user_code'] } });
    const path = `/device?user_code=${asked.body.interact.user_code}`;
    const browser = gnap.flow.browser();
    const page = await signIn(browser, await browser.open(path), 'alice');
    await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    expect((await browser.open(path)).text).toContain('Your device is connected');
    const other = gnap.flow.browser();
    const unknown = await signIn(other, await other.open(path), 'bob');
    expect(unknown.text).toContain('This code is wrong');
  });

  test.each([
    ['turns the text around it', '\u202Elive'],
    ['has a line of its own', 'a\nb'],
    ['is invisible', '\u200B'],
    ['fills the page', 'W'.repeat(101)],
  ])('a name that %s is refused', async (_what, name) => {
    const client = { key: gnap.key.byValue, display: { name } };
    const { body } = await gnap.ask({ ...READ, interact: REDIRECT, client });
    expect(body.error.code).toBe('invalid_request');
  });

  test('the page does not claim that a client without a name has chosen one', async () => {
    const client = { key: gnap.key.byValue };
    const asked = await gnap.ask({ ...READ, interact: REDIRECT, client });
    expect((await gnap.onPage(asked)).page.text).toContain('an application without a name');
  });
});
