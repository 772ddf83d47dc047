import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';
import { signIn, startBrowserFlow } from './browser.fixture.ts';
import type { BrowserFlow, Visitor } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

/** A passkey as an authenticator of Chromium keeps it (DevTools protocol, WebAuthn.Credential). */
interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
  readonly rpId?: string;
  readonly userHandle?: string;
}

/** An authenticator that Chromium has in place of the one of a device. */
interface Device {
  readonly credentials: () => Promise<readonly Credential[]>;
  readonly add: (credential: Credential) => Promise<void>;
  /** Whether its owner shows a finger, and the right one. */
  readonly answers: (answers: boolean) => Promise<void>;
}

async function deviceOf(page: Page): Promise<Device> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () =>
      (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    add: async (credential) => {
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    answers: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}

describe.each(ONE_STORE)('on %s: passkeys in Chromium', (kind) => {
  let flow: BrowserFlow;
  beforeAll(async () => {
    const settings = { people: { registration: 'invited' } };
    flow = await startBrowserFlow(kind, { issuerHost: 'localhost', settings });
  });
  afterEach(async () => {
    expect(await flow.close()).toEqual([]);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const passkeys = () => `${flow.pair.issuer}/account/passkeys`;
  const button = (at: Page, name: string) => at.getByRole('button', { name, exact: true });

  /** Somebody who has signed in with the password and made a passkey on this device. */
  async function withPasskey(): Promise<Visitor & { readonly device: Device }> {
    const visitor = await flow.visit();
    const { page, person } = visitor;
    const device = await deviceOf(page);
    await page.goto(passkeys());
    await signIn(page, person);
    await page.getByLabel('Name of the passkey').fill('Laptop');
    // Enter does what the button does.
    await page.keyboard.press('Enter');
    await page.getByText('The passkey is made.').waitFor();
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

  /** A newcomer at the page of their link, with a name typed. */
  async function newcomer(name: string) {
    const { page } = await flow.visit();
    await deviceOf(page);
    const invited = await flow.pair.cli('user', 'invite', '--email', `${name}@example.com`);
    await page.goto(String(invited['link']));
    await page.getByLabel('Name').fill(name);
    return page;
  }

  test('a newcomer gets the account that they typed a password for, though the device makes passkeys', async () => {
    const page = await newcomer('dora');
    await page.locator('#password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByText('Your account is there').waitFor();
    expect(await flow.pair.cli('user', 'show', 'dora')).not.toHaveProperty('passwordless');
  });

  test('a newcomer makes a passkey instead, and types no password', async () => {
    const page = await newcomer('dana');
    await button(page, 'Create it with a passkey, without a password').click();
    await page.getByText('Your account is there').waitFor();
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
    await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
    await page.getByText('Remove this passkey?').waitFor();
    await button(page, 'Remove the passkey').click();
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
    const copy = await deviceOf(thief.page);
    await copy.add(before);
    await withoutAutofill(thief.page);
    await thief.page.goto(`${flow.pair.issuer}/account`);
    await button(thief.page, 'Use a passkey').click();
    await thief.page.getByText('somebody may have a copy of it').waitFor();
    await page.goto(passkeys());
    await page.getByText('somebody may have a copy of this passkey').waitFor();
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
