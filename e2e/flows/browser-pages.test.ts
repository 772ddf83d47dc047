import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Page } from 'playwright-core';
import { focused, tabTo } from '../parts/browser.ts';
import type { Person } from '../pair/pair.ts';
import {
  addApp,
  decide,
  signIn,
  signInByKeyboard,
  startBrowserFlow,
  title,
} from './browser.fixture.ts';
import type { BrowserFlow } from './browser.fixture.ts';
import { addDevice } from './person.ts';

/**
 * Chromium shows the pages under their policy: pages of oidc-provider, frames, languages, narrow windows.
 */
let flow: BrowserFlow;
beforeAll(async () => {
  flow = await startBrowserFlow('sqlite');
});
afterEach(async () => {
  expect(await flow.close()).toEqual([]);
});
afterAll(async () => flow?.[Symbol.asyncDispose]());

const SCRIPT = [
  { name: 'with script', script: true },
  { name: 'without script', script: false },
];

/** Waits for oidc-provider's page that submits itself, or clicks its button without script. */
async function passOn(page: Page, script: boolean): Promise<void> {
  if (!script) await page.getByRole('button', { name: 'Continue' }).click();
}

const signInAt = async (page: Page, person: Person) => {
  await page.goto(`${flow.pair.issuer}/account`);
  await signIn(page, person);
  await expect(title(page)).resolves.toBe('Your account');
};

describe.each(SCRIPT)('$name', ({ script }) => {
  test('OAuth 2.0 Form Post Response Mode section 2: the code is posted to the client', async () => {
    const { page, person } = await flow.visit({ script });
    const asked = await flow.app.ask({ response_mode: 'form_post' });
    await page.goto(asked.url);
    await signIn(page, person);
    await decide(page, 'Allow');
    await passOn(page, script);
    const answer = await asked.answer();
    expect([answer.method, new URL(answer.url).search]).toEqual(['POST', '']);
    expect(await flow.status(await asked.tokens())).toBe(200);
    expect(page.url()).toBe(flow.callback.uri);

    const denied = await flow.app.ask({ response_mode: 'form_post', prompt: 'consent' });
    await page.goto(denied.url);
    await decide(page, 'Deny');
    await passOn(page, script);
    await expect(denied.tokens()).rejects.toMatchObject({ error: 'access_denied' });
  });

  test('if another person signs in, the first person is signed out with all access of that session', async () => {
    const first = await flow.visit({ script });
    const { page } = first;
    const tokens = await flow.tokens(first);
    const { person } = await flow.visit();
    const asked = await flow.app.ask({ prompt: 'login' });
    await page.goto(asked.url);
    await expect(page.getByLabel('Name').inputValue()).resolves.toBe(first.person.name);
    await signIn(page, person);
    await decide(page, 'Allow');
    expect(decodeJwt((await asked.tokens()).access_token).sub).toBe(person.id);
    expect(await flow.status(tokens)).toBe(401);
  });

  test('if another person has signed in from another tab, that session ends first, without an extra page', async () => {
    const { page, person, context } = await flow.visit({ script });
    const other = await flow.visit();
    const asked = await flow.app.ask();
    await page.goto(asked.url);
    // The form is sent, but the browser does not follow the redirect yet.
    const action = await page.locator('form[action$="/login"]').getAttribute('action');
    const csrf = await page.locator('input[name=csrf]').first().inputValue();
    const form = { csrf, name: person.name, password: person.password };
    const sent = await context.request.post(`${flow.pair.issuer}${action}`, {
      form,
      maxRedirects: 0,
    });
    const tab = await context.newPage();
    await signInAt(tab, other.person);
    await page.goto(sent.headers()['location'] ?? '');
    await decide(page, 'Allow');
    expect(decodeJwt((await asked.tokens()).access_token).sub).toBe(person.id);
    await tab.reload();
    await expect(tab.locator('header').innerText()).resolves.toContain(person.name);
  });

  test('OpenID Connect RP-Initiated Logout 1.0: the page asks, signs out, and leads to the registered URI', async () => {
    const visitor = await flow.visit({ script });
    const { page } = visitor;
    const bye = `${flow.callback.origin}/bye`;
    const app = await addApp(flow.pair, flow.callback, {
      more: ['--post-logout-redirect-uri', bye],
    });
    const tokens = await flow.tokens(visitor, {}, app);
    const signOut = app.signOutUrl({
      id_token_hint: String(tokens.id_token),
      post_logout_redirect_uri: bye,
      state: 'the state',
    });
    await page.goto(signOut);
    await expect(page.locator('main').innerText()).resolves.toContain(
      'Test app asks to sign you out',
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${bye}?state=the+state`);
    expect(await flow.status(tokens)).toBe(401);

    // After sign-out the same address leads to the registered URI at once.
    await page.goto(signOut);
    await page.waitForURL(`${bye}?state=the+state`);
  });
});

describe('RFC 6749 section 10.13: protection from clickjacking', () => {
  const REFUSED: unknown = expect.stringMatching(/frame-ancestors|X-Frame-Options/);

  test.each(['/sign-out', '/account', '/device'])(
    '%s shows no content in a frame of another origin',
    async (path) => {
      const { page, person } = await flow.visit();
      await signInAt(page, person);
      await expectNotFramed(page, `${flow.pair.issuer}${path}`);
      expect(await flow.close()).toEqual([REFUSED]);
    },
  );

  test('sign-in and consent show no content in a frame of another origin', async () => {
    const { page, person } = await flow.visit();
    await page.goto((await flow.app.ask()).url);
    const login = page.url();
    await signIn(page, person);
    await expect(title(page)).resolves.toBe('Allow access to Test app?');
    const consent = page.url();
    await expectNotFramed(page, consent);
    await expectNotFramed(page, login);
    expect(await flow.close()).toEqual([REFUSED, REFUSED]);
  });

  test('control: a page that allows frames is visible in the same frame', async () => {
    const { page } = await flow.visit();
    await page.goto(flow.callback.framing(`${flow.callback.origin}/`));
    await expect(page.frameLocator('iframe').locator('h1').innerText()).resolves.toBe(
      'The application',
    );
  });

  async function expectNotFramed(page: Page, url: string): Promise<void> {
    await page.goto(flow.callback.framing(url));
    const framed = page.frames().filter((frame) => frame !== page.mainFrame());
    expect(framed.map((frame) => frame.url())).toEqual(['chrome-error://chromewebdata/']);
  }
});

test('RFC 9110 section 12.5.4: a browser that prefers German gets a whole flow in German', async () => {
  const { page, person } = await flow.visit({ locale: 'de-DE' });
  const asked = await flow.app.ask();
  await page.goto(asked.url);
  await expect(page.locator('html').getAttribute('lang')).resolves.toBe('de');
  await page.getByLabel('Name').fill(person.name);
  await page.getByLabel('Passwort').fill(person.password);
  await page.getByRole('button', { name: 'Anmelden' }).click();
  await expect(title(page)).resolves.toBe('Test app Zugriff erlauben?');
  await page.getByRole('button', { name: 'Erlauben' }).click();
  expect(await flow.status(await asked.tokens())).toBe(200);

  const english = await flow.app.ask({ ui_locales: 'en', prompt: 'consent' });
  await page.goto(english.url);
  await expect(title(page)).resolves.toBe('Allow access to Test app?');
});

/** Asks for a device code. */
async function askingDevice() {
  const client_id = await addDevice(flow.flow);
  const post = async (path: string, form: Record<string, string>) => {
    const body = new URLSearchParams({ client_id, ...form });
    const response = await fetch(flow.pair.issuer + path, { method: 'POST', body });
    return (await response.json()) as Record<string, string>;
  };
  const { user_code = '', device_code = '' } = await post('/device/auth', {
    scope: 'documents:read',
  });
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return { userCode: user_code, poll: () => post('/token', { grant_type, device_code }) };
}

test('RFC 8628 section 3.3, by keyboard alone: sign-in, code and approval work', async () => {
  const { page, person } = await flow.visit();
  const { userCode, poll } = await askingDevice();
  await page.goto(`${flow.pair.issuer}/device`);
  await signInByKeyboard(page, person);
  await focused(page.getByLabel('Code')).waitFor();
  await page.keyboard.type(userCode.toLowerCase());
  await page.keyboard.press('Enter');
  await page.getByText('Connect Test app?').waitFor();
  await tabTo(page.getByRole('button', { name: 'Allow' }));
  await page.keyboard.press('Enter');
  await page.getByText('Your device is connected').waitFor();
  expect(await flow.pair.get((await poll())['access_token'] ?? '')).toBe(200);
});

test("if the issuer's host is an IP address, the page of passkeys says that passkeys are impossible", async () => {
  const { page, person } = await flow.visit();
  await page.goto(`${flow.pair.issuer}/account/passkeys`);
  await signIn(page, person);
  await page.getByText('Passkeys need an https address with a host name.').waitFor();
});

test('at a width of 320 px no page scrolls sideways', async () => {
  const visitor = await flow.visit({ width: 320 });
  const { page, person } = visitor;
  const { issuer } = flow.pair;
  const look = async () => {
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect([await title(page), width]).toEqual([expect.any(String), 320]);
  };
  const asked = await flow.app.ask({
    scope: 'openid profile offline_access documents:read documents:write',
    prompt: 'consent',
  });
  await page.goto(asked.url);
  await look();
  await signIn(page, { ...person, password: 'not this one' });
  await page.getByRole('alert').waitFor();
  await look();
  await signIn(page, person);
  await look();
  await decide(page, 'Allow');
  await page.waitForURL(`${flow.callback.uri}**`);
  const confirm = `/device?user_code=${(await askingDevice()).userCode}`;
  for (const path of ['/', '/account', '/device', confirm, '/sign-out', '/interaction/none']) {
    await page.goto(issuer + path);
    await look();
  }
});
