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
    'each refusal has its sentence, when a person %s',
    (_does, isRefused) => isRefused(flow),
  );

  const passkeys = () => `${flow.pair.issuer}/account/passkeys`;
  const button = (at: Page, name: string) => at.getByRole('button', { name, exact: true });

  /** Signs in with the password, and makes a passkey of this name on the device of the page. */
  async function make(page: Page, person: Person, name: string): Promise<void> {
    await page.goto(passkeys());
    await signIn(page, person);
    await page.getByLabel('Name of the passkey').fill(name);
    // Enter does what the button does.
    await page.keyboard.press('Enter');
    await page.getByText('The passkey is made.').waitFor();
  }

  /** Somebody who has signed in with the password and made a passkey on this device. */
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

  /** From its next page on: the button is what is tried there. */
  const withoutAutofill = (page: Page) =>
    page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');

  const isIn = (page: Page, name: string) => page.getByText(`You are ${name}.`).waitFor();

  /** At the account page of a browser in which nobody is signed in. */
  async function comeIn(page: Page): Promise<void> {
    await page.goto(`${flow.pair.issuer}/account`);
    // After a sign-in by passkey it says "as last time", too.
    await page.getByRole('button', { name: /^Use a passkey/ }).click();
  }

  async function remove(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: `Remove the passkey ${name}` }).click();
    await page.getByText('Remove this passkey?').waitFor();
    await button(page, 'Remove the passkey').click();
  }

  /** Has the page ask its authenticator as if it had been open for more than five minutes, until it is loaded again. */
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

  /** A newcomer at the page of their link, with a name typed. */
  async function newcomer(name: string) {
    const { page } = await flow.visit();
    await virtualAuthenticator(page);
    const invited = await flow.pair.cli('user', 'invite', '--email', `${name}@example.com`);
    await page.goto(String(invited['link']));
    await page.getByLabel('Name').fill(name);
    return page;
  }

  test('a newcomer gets the account that they typed a password for, though the device makes passkeys', async () => {
    const page = await newcomer('dora');
    await page.locator('#password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByText('Your account is made').waitFor();
    expect(await flow.pair.cli('user', 'show', 'dora')).not.toHaveProperty('passwordless');
  });

  test('a newcomer makes a passkey instead, and types no password', async () => {
    const page = await newcomer('dana');
    await button(page, 'Create it with a passkey, without a password').click();
    await page.getByText('Your account is made').waitFor();
    expect(await flow.pair.cli('user', 'show', 'dana')).toMatchObject({ passwordless: true });
  });

  test('a person makes one, comes in by the button, and removes it', async () => {
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
    // The sign-in was made with it.
    await page.getByLabel('Password').waitFor();
  });

  test('autofill: the field of the name offers it, and nothing is typed', async () => {
    const { page, person } = await withPasskey();
    await signOut(page);
    // The authenticator of the test answers at once, as if the person had chosen from the list.
    await page.goto(`${flow.pair.issuer}/account`);
    await isIn(page, person.name);
  });

  test('cancelled: the page says so, and the password works still', async () => {
    const { page, person, device } = await withPasskey();
    await signOut(page);
    await device.answers(false);
    await page.goto(`${flow.pair.issuer}/account`);
    await button(page, 'Use a passkey').click();
    await page.getByText('The browser showed no passkey').waitFor();
    await signIn(page, person);
    await isIn(page, person.name);
  });

  test('a copy whose counter stayed behind is refused, and the person is told', async () => {
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
    await thief.page.getByText('somebody may have a copy of it').waitFor();
    await page.goto(passkeys());
    await page.getByText('somebody may have a copy of this passkey').waitFor();
  });

  test('a second device has its own passkey, and each of the two is removed alone', async () => {
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
    await laptop.getByText('This passkey does not let you in').waitFor();
    await make(laptop, person, 'New laptop');
    await remove(laptop, 'Phone');
    await laptop.getByText('The passkey is removed.').waitFor();
    await comeIn(phone);
    await phone.getByText('This passkey does not let you in').waitFor();
    await signOut(laptop);
    await comeIn(laptop);
    await isIn(laptop, person.name);
  });

  test('a page elsewhere gets no answer for this host, and one for its own host lets nobody in (WebAuthn section 13.4.8)', async () => {
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
    // Even an authenticator that gives the key away signs for the host of the page.
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
    await page.getByText('it is for another place. Use another way.').waitFor();
    await button(page, 'Use a passkey').click();
    await isIn(page, person.name);
  });

  test('a page that was open for more than five minutes says so, and works the second time', async () => {
    const { page, person } = await withPasskey();
    const late = () => page.getByText('That took longer than five minutes').waitFor();
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

  test('two tabs: both ask for it, and the second form is not used up by the first', async () => {
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
