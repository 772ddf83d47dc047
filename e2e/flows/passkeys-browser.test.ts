import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { startMailServer } from '#shared/mail/smtp.fixture.ts';
import {
  CHALLENGE_LIFE,
  type ChallengePurpose,
  createChallenges,
} from '../../authz-server/pages/sign-in/challenge.ts';
import { type VirtualAuthenticator, virtualAuthenticator } from '../parts/virtual-authenticator.ts';
import { signIn, startBrowserFlow } from './browser.fixture.ts';
import type { BrowserFlow, Visitor } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';
import type { Person } from '../pair/pair.ts';
import * as requests from './refused/requests.ts';
import { STRICT } from './refused/steps.ts';
import * as waysIn from './refused/ways-in.ts';

describe.each(ONE_STORE)('on %s: in Chromium', (kind) => {
  const running = new AsyncDisposableStack();
  let flow: BrowserFlow;
  beforeAll(async () => {
    const smtp = running.use(await startMailServer('implicit'));
    const settings = { ...STRICT, mail: { ...smtp.mail } };
    flow = running.use(await startBrowserFlow(kind, { issuerHost: 'localhost', settings }));
  });
  afterEach(async () => {
    expect(await flow.close()).toEqual([]);
  });
  afterAll(async () => running.disposeAsync());

  test.each(Object.entries({ ...waysIn, ...requests }))(
    'every refusal is shown as its own sentence, if a person %s',
    (_does, isRefused) => isRefused(flow),
  );

  const passkeys = () => `${flow.pair.issuer}/account/passkeys`;
  const button = (at: Page, name: string) => at.getByRole('button', { name, exact: true });

  /** Signs in with the password, and makes a passkey of this name on the page's device. */
  async function make(page: Page, person: Person, name: string): Promise<void> {
    await page.goto(passkeys());
    await signIn(page, person);
    await page.getByLabel('Name of the passkey').fill(name);
    // Enter does the same as the button.
    await page.keyboard.press('Enter');
    await page.getByText('The passkey is made.').waitFor();
  }

  /** A person who has signed in with the password and made a passkey on this device. */
  async function withPasskey(): Promise<Visitor & { readonly device: VirtualAuthenticator }> {
    const visitor = await flow.visit();
    const device = await virtualAuthenticator(visitor.page);
    await make(visitor.page, visitor.person, 'Laptop');
    return { ...visitor, device };
  }

  const signOut = async (page: Page) => {
    await page.goto(`${flow.pair.issuer}/sign-out`);
    await button(page, 'Sign out').click();
    await page.getByText('You are signed out').waitFor();
  };

  /** Turns autofill off from the next page on, because the test uses the button. */
  const withoutAutofill = (page: Page) =>
    page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');

  const isIn = (page: Page, name: string) => page.getByText(`You are ${name}.`).waitFor();

  /** Opens the account page in a browser without a session, and signs in with a passkey. */
  async function comeIn(page: Page): Promise<void> {
    await page.goto(`${flow.pair.issuer}/account`);
    // After a sign-in by passkey the button also says "as last time".
    await page.getByRole('button', { name: /^Use a passkey/ }).click();
  }

  async function remove(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: `Remove the passkey ${name}` }).click();
    await page.getByText('Remove this passkey?').waitFor();
    await button(page, 'Remove the passkey').click();
  }

  /**
   * Makes the page ask its authenticator as if it had been open for more than five minutes, until the page
   * is reloaded.
   */
  async function openForLong(page: Page, purpose: ChallengePurpose): Promise<void> {
    const master = await readMasterSecret(flow.flow.config, flow.pair.env);
    const clock = new ManualClock(systemClock.now() - CHALLENGE_LIFE - 1000);
    const { stores } = flow.flow;
    const challenges = createChallenges({ clock, master, random: systemRandom, stores });
    const csrf = await page.locator('form:has(#passkey-button) [name=csrf]').inputValue();
    const challenge = JSON.stringify(challenges.make(purpose, csrf));
    await page.evaluate(`for (const name of ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON']) {
      const parse = PublicKeyCredential[name].bind(PublicKeyCredential);
      PublicKeyCredential[name] = (options) => parse({ ...options, challenge: ${challenge} });
    }`);
  }

  /** A new person at the page of the link, with a typed name. */
  async function newcomer(name: string) {
    const { page } = await flow.visit();
    await virtualAuthenticator(page);
    const invited = await flow.pair.cli('user', 'invite', '--email', `${name}@example.com`);
    await page.goto(String(invited['link']));
    await page.getByLabel('Name').fill(name);
    return page;
  }

  test('a new person with a typed password gets an account without a passkey, even on a device with passkeys', async () => {
    const page = await newcomer('dora');
    await page.locator('#password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByText('Your account is made').waitFor();
    expect(await flow.pair.cli('user', 'show', 'dora')).not.toHaveProperty('passwordless');
  });

  test('a new person makes a passkey instead of a password', async () => {
    const page = await newcomer('dana');
    await button(page, 'Create it with a passkey, without a password').click();
    await page.getByText('Your account is made').waitFor();
    expect(await flow.pair.cli('user', 'show', 'dana')).toMatchObject({ passwordless: true });
  });

  test('a person makes a passkey, signs in by the button, and removes the passkey', async () => {
    const { page, person, device } = await withPasskey();
    expect(await device.credentials()).toMatchObject([{ isResidentCredential: true }]);
    await page.evaluate(axe.source);
    const found = await page.evaluate('axe.run()');
    expect((found as { violations: unknown[] }).violations).toEqual([]);
    await signOut(page);
    await withoutAutofill(page);
    await page.goto(`${flow.pair.issuer}/account`);
    await button(page, 'Use a passkey').click();
    await isIn(page, person.name);
    await page.goto(passkeys());
    await page.getByText('Used just now').waitFor();
    await remove(page, 'Laptop');
    // The session was made with this passkey.
    await page.getByLabel('Password').waitFor();
  });

  test('autofill: the name field offers the passkey, and no name is typed', async () => {
    const { page, person } = await withPasskey();
    await signOut(page);
    // The test's authenticator answers at once, as if the person had chosen from the list.
    await page.goto(`${flow.pair.issuer}/account`);
    await isIn(page, person.name);
  });

  test('after a cancellation the page says so, and the password still works', async () => {
    const { page, person, device } = await withPasskey();
    await signOut(page);
    await device.answers(false);
    await page.goto(`${flow.pair.issuer}/account`);
    await button(page, 'Use a passkey').click();
    await page.getByText('No passkey was used').waitFor();
    await signIn(page, person);
    await isIn(page, person.name);
  });

  test('a copied authenticator with an old counter is refused, and the person learns that', async () => {
    const { page, person, device } = await withPasskey();
    await signOut(page);
    const [before] = await device.credentials();
    if (before === undefined) throw new Error('there is no passkey');
    await page.goto(`${flow.pair.issuer}/account`);
    await isIn(page, person.name);
    const thief = await flow.visit();
    const copy = await virtualAuthenticator(thief.page);
    await copy.add(before);
    await withoutAutofill(thief.page);
    await thief.page.goto(`${flow.pair.issuer}/account`);
    await button(thief.page, 'Use a passkey').click();
    await thief.page.getByText('another person may have a copy of it').waitFor();
    await page.goto(passkeys());
    await page.getByText('another person may have a copy of this passkey').waitFor();
  });

  test('a second device has its own passkey, and each passkey can be removed alone', async () => {
    const { page: laptop, person } = await withPasskey();
    await signOut(laptop);
    await withoutAutofill(laptop);
    await comeIn(laptop);
    const { page: phone } = await flow.visit({ person });
    await virtualAuthenticator(phone);
    await withoutAutofill(phone);
    await make(phone, person, 'Phone');
    await signOut(phone);
    await comeIn(phone);
    await isIn(phone, person.name);

    await phone.goto(passkeys());
    await remove(phone, 'Laptop');
    await phone.getByText('The passkey is removed.').waitFor();
    await phone.getByText('Used just now').waitFor();
    await comeIn(laptop);
    await laptop.getByText('You cannot sign in with this passkey').waitFor();
    await make(laptop, person, 'New laptop');
    await remove(laptop, 'Phone');
    await laptop.getByText('The passkey is removed.').waitFor();
    await comeIn(phone);
    await phone.getByText('You cannot sign in with this passkey').waitFor();
    await signOut(laptop);
    await comeIn(laptop);
    await isIn(laptop, person.name);
  });

  test('a page of another host gets no passkey for this host, and its own passkey signs in no person (WebAuthn section 13.4.8)', async () => {
    const { page, person, device, context } = await withPasskey();
    await signOut(page);
    await withoutAutofill(page);
    await page.goto(`${flow.pair.issuer}/account`);
    const options = await page.locator('#passkey-button').getAttribute('data-options');
    const elsewhere = await context.newPage();
    const host = 'localhost.phish.example';
    await elsewhere.route(`https://${host}/**`, (route) => route.fulfill({ body: '' }));
    await elsewhere.goto(`https://${host}/`);
    const [passkey] = await device.credentials();
    if (passkey === undefined) throw new Error('there is no passkey');
    // Even an authenticator whose key leaked signs for the host of the page.
    const broken = await virtualAuthenticator(elsewhere);
    await broken.add({ ...passkey, rpId: host });
    const ask = (rpId: string) =>
      elsewhere.evaluate(`navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON({ ...${options}, rpId: '${rpId}' }),
      }).then(JSON.stringify, ({ name }) => name)`) as Promise<string>;
    expect(await ask('localhost')).toBe('SecurityError');
    const answer = await ask(host);
    await page.evaluate(`(() => {
      const { form } = document.getElementById('passkey-button');
      form.elements.passkey.value = ${JSON.stringify(answer)};
      form.submit();
    })()`);
    await page.getByText('it is for another site. Sign in another way.').waitFor();
    await button(page, 'Use a passkey').click();
    await isIn(page, person.name);
  });

  test('a page that was open for more than five minutes says so, and the second attempt works', async () => {
    const { page, person } = await withPasskey();
    const late = () => page.getByText('took longer than five minutes').waitFor();
    await page.goto(passkeys());
    await remove(page, 'Laptop');
    await page.getByLabel('Name of the passkey').fill('Desk');
    await openForLong(page, `create ${person.id}`);
    await button(page, 'Make a passkey').click();
    await late();
    expect(await page.getByLabel('Name of the passkey').inputValue()).toBe('Desk');
    await button(page, 'Make a passkey').click();
    await page.getByText('The passkey is made.').waitFor();

    await signOut(page);
    await withoutAutofill(page);
    await page.goto(`${flow.pair.issuer}/account`);
    await openForLong(page, 'get');
    await button(page, 'Use a passkey').click();
    await late();
    await button(page, 'Use a passkey').click();
    await isIn(page, person.name);
  });

  test('without script the password works, and the page of passkeys says what is missing', async () => {
    const { page, person } = await flow.visit({ script: false });
    await page.goto(passkeys());
    expect(await page.getByText('Use a passkey').isVisible()).toBe(false);
    await signIn(page, person);
    await page.getByText('its scripts are off').waitFor();
    expect(await page.locator('#passkey-button').isVisible()).toBe(false);
  });

  test('if two tabs ask for the passkey, both forms work', async () => {
    const { page, person, context } = await withPasskey();
    await signOut(page);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await withoutAutofill(tab);
      await tab.goto(`${flow.pair.issuer}/account`);
    }
    await button(page, 'Use a passkey').click();
    await isIn(page, person.name);
    await signIn(other, person);
    await isIn(other, person.name);
  });
});
