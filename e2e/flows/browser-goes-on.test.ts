import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { withSecondFactor } from '../../authz-server/integration/second-factor.fixture.ts';
import { type Callback, startCallback } from '../parts/callback.ts';
import type { RelyingParty } from '../parts/relying-party.ts';
import { virtualAuthenticator } from '../parts/virtual-authenticator.ts';
import { addApp, type BrowserFlow, decide, signIn, startBrowserFlow } from './browser.fixture.ts';
import type { Visitor } from './browser.fixture.ts';
import { askByGnap } from './gnap-in-browser.ts';

/**
 * CSP Level 3 section 6.4.1: Chromium applies `form-action` to all redirects after a form. A client may
 * redirect further, as a broker or a hosted MCP client that opens an app does. The person must not be
 * stopped on our page.
 */
const SETTINGS = { issuerHost: 'localhost', settings: { gnap: { clients: 'anybody' } } };
const running = new AsyncDisposableStack();
let flow: BrowserFlow;
let elsewhere: Callback;
let app: RelyingParty;
beforeAll(async () => {
  flow = running.use(await startBrowserFlow('sqlite', SETTINGS));
  elsewhere = running.use(await startCallback());
  const bye = ['--post-logout-redirect-uri', `${flow.callback.origin}/bye`];
  app = await addApp(flow.pair, flow.callback, { more: bye });
});
afterEach(async () => {
  flow.callback.leadsTo = undefined;
  elsewhere.leadsTo = undefined;
  expect(await flow.close()).toEqual([]);
});
afterAll(async () => running.disposeAsync());

interface Case {
  readonly visitor: Visitor;
  readonly script: boolean;
}
/** Opens the page with the form that leads to the client; `send` sends the form. */
type Form = (visited: Case) => Promise<{ readonly send: () => Promise<void> }>;

/** Shows an application's request to a person who has just signed in. */
async function atConsent({ page, person }: Visitor, parameters = {}): Promise<void> {
  await page.goto((await app.ask(parameters)).url);
  await signIn(page, person);
  await page.getByRole('button', { name: 'Allow' }).waitFor();
}

const press = (visitor: Visitor, name: string) =>
  visitor.page.getByRole('button', { name, exact: true }).click();

const FORMS: Readonly<Record<string, Form>> = {
  'Allow of the consent': async ({ visitor }) => {
    await atConsent(visitor);
    return { send: () => decide(visitor.page, 'Allow') };
  },
  'Deny of the consent': async ({ visitor }) => {
    await atConsent(visitor);
    return { send: () => decide(visitor.page, 'Deny') };
  },
  'Cancel of the sign-in': async ({ visitor }) => {
    await visitor.page.goto((await app.ask()).url);
    return { send: () => press(visitor, 'Cancel') };
  },
  'the sign-in after which nothing is asked': async ({ visitor }) => {
    await flow.tokens(visitor, {}, app);
    await visitor.page.goto((await app.ask({ prompt: 'login' })).url);
    return { send: () => signIn(visitor.page, visitor.person) };
  },
  'the code of a second factor': async ({ visitor }) => {
    const { page, person } = visitor;
    await flow.tokens(visitor, {}, app);
    const master = await readMasterSecret(flow.flow.config, flow.pair.env);
    const server = { stores: flow.flow.stores, master, clock: systemClock, random: systemRandom };
    const { code } = await withSecondFactor(server, person.name);
    await page.goto((await app.ask({ prompt: 'login' })).url);
    await signIn(page, person);
    await page.getByRole('textbox').first().fill(code());
    return { send: () => press(visitor, 'Continue') };
  },
  form_post: async ({ visitor, script }) => {
    await atConsent(visitor, { response_mode: 'form_post' });
    const send = async () => {
      await decide(visitor.page, 'Allow');
      if (!script) await press(visitor, 'Continue');
    };
    return { send };
  },
  'Allow of a request of GNAP': async ({ visitor }) => {
    const { page, person } = visitor;
    await page.goto(await askByGnap(flow.pair.issuer, flow.callback.uri));
    await signIn(page, person);
    return { send: () => decide(page, 'Allow') };
  },
  'signing out for a client': async ({ visitor }) => {
    const { page } = visitor;
    const tokens = await flow.tokens(visitor, {}, app);
    const parameters = {
      id_token_hint: String(tokens.id_token),
      post_logout_redirect_uri: `${flow.callback.origin}/bye`,
    };
    await page.goto(app.signOutUrl(parameters));
    return { send: () => press(visitor, 'Sign out') };
  },
};

const WITH_SCRIPT: typeof FORMS = {
  'a passkey': async ({ visitor }) => {
    const { page, person } = visitor;
    await page.addInitScript(
      'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
    );
    await virtualAuthenticator(page);
    await flow.tokens(visitor, {}, app);
    await page.goto(`${flow.pair.issuer}/account/passkeys`);
    await page.getByLabel('Name of the passkey').fill('Laptop');
    await page.keyboard.press('Enter');
    await page.getByText('The passkey is made.').waitFor();
    await page.goto((await app.ask({ prompt: 'login' })).url);
    await page.getByLabel('Name').fill(person.name);
    return { send: () => page.getByRole('button', { name: /^Use a passkey/ }).click() };
  },
};

describe.each([
  { how: 'with script', script: true, forms: { ...FORMS, ...WITH_SCRIPT } },
  { how: 'without script', script: false, forms: FORMS },
])('in Chromium $how', ({ script, forms }) => {
  test.each(Object.entries(forms))(
    'after %s the client redirects to another origin, or in two steps to an app',
    async (_form, go) => {
      for (const target of [undefined, 'claude://done']) {
        const visitor = await flow.visit({ script });
        const { send } = await go({ visitor, script });
        const state = randomUUID();
        elsewhere.leadsTo = target;
        flow.callback.leadsTo = `${elsewhere.uri}?state=${state}`;
        await send();
        expect((await elsewhere.answer(state)).method).toBe('GET');
        if (target === undefined) await visitor.page.waitForURL(flow.callback.leadsTo);
        flow.callback.leadsTo = undefined;
      }
    },
  );
});
