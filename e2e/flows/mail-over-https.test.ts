import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { startMailServer, type TestMailServer } from '#shared/mail/smtp.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair, Person } from '../pair/pair.ts';
import { complaintsOf, focused, launchBrowser, newPerson } from '../parts/browser.ts';
import { freePort } from '../parts/free-port.ts';
import { walkByTab } from '../parts/tab-order.ts';
import { virtualAuthenticator } from '../parts/virtual-authenticator.ts';
import { appFrom } from '../../authz-server/integration/second-factor.fixture.ts';
import { startTlsFront } from '../parts/tls-front.ts';

/** As in production, a proxy terminates TLS, and links in messages lead to the issuer's https origin. */
const running = new AsyncDisposableStack();
let pair: Pair;
let issuer: string;
let browser: Browser;
let smtp: TestMailServer;
const complaints: (readonly string[])[] = [];

beforeAll(async () => {
  const port = await freePort();
  issuer = `https://localhost:${port}`;
  smtp = running.use(await startMailServer('implicit'));
  pair = await startPair({
    settings: (origins) => ({
      issuer,
      jwks: { url: `${origins.issuer}/jwks` },
      trustedProxies: ['127.0.0.1/32'],
      mail: { ...smtp.mail },
      people: { registration: 'open' },
    }),
  });
  running.use(pair);
  running.use(await startTlsFront(pair.data, port, pair.authz[0]?.url ?? ''));
  browser = await launchBrowser();
  running.defer(() => browser.close());
});
afterAll(async () => running.disposeAsync());
afterEach(() => expect(complaints.flat()).toEqual([]));

/** A person's German browser with the width of a phone. */
async function german(): Promise<Page> {
  const context = await newPerson(browser, {
    locale: 'de-DE',
    width: 390,
    ignoreHTTPSErrors: true,
    colorScheme: 'dark',
  });
  complaints.push(await complaintsOf(context));
  return context.newPage();
}

/** The link below this path in a person's messages. Exactly one message must have it. */
async function linkTo(address: string, path: string): Promise<string> {
  const links = () =>
    smtp.received
      .filter(({ to }) => to === address)
      .map(({ content }) => content.replaceAll('=\r\n', ''))
      .flatMap((content) => content.match(new RegExp(`\\S+${path}/[\\w-]{22}(?=\\s)`, 'g')) ?? []);
  await eventually(() => expect(links()).toHaveLength(1));
  return links()[0] ?? '';
}

/** Gives a page an authenticator. The test uses the button, so autofill is off. */
async function withAuthenticator(page: Page): Promise<void> {
  await virtualAuthenticator(page);
  await page.addInitScript(
    'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
  );
}

async function signIn(page: Page, { name, password }: Pick<Person, 'name' | 'password'>) {
  await page.goto(`${issuer}/account`);
  await page.getByLabel('Name').fill(name);
  await page.locator('#password').fill(password);
  await press(page, 'Anmelden');
}

/** An operator's recovery link. */
const recover = async (name: string, ...options: readonly string[]) =>
  String((await pair.cli('user', 'recover', name, ...options))['link']);

const title = (page: Page, text: string) =>
  page.getByRole('heading', { name: text, exact: true, level: 1 }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/**
 * Expects a German page without accessibility faults, with full keyboard use, and not wider than the phone.
 */
async function isFine(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run()');
  const [language, width] = await page.evaluate<[string, number]>(
    '[document.documentElement.lang, document.documentElement.scrollWidth]',
  );
  const found = { violations: violations.map(({ id }) => id), language, width };
  expect([page.url(), found]).toEqual([page.url(), { violations: [], language: 'de', width: 390 }]);
  await walkByTab(page, page.url());
}

describe('links in messages, behind a proxy that terminates TLS, in a German browser', () => {
  test('a new person registers after each possible mistake, and signs in', async () => {
    const [page, address] = [await german(), 'neu@example.com'];
    await page.goto(`${issuer}/account`);
    await page.getByText('Konto anlegen').waitFor();
    await isFine(page);
    await page.getByRole('link', { name: 'Konto anlegen' }).click();
    await title(page, 'Konto anlegen');
    await isFine(page);
    // A browser accepts this address, but no mail server does.
    await page.getByLabel('E-Mail-Adresse').fill('neu@example');
    await press(page, 'Link senden');
    await page.getByRole('alert').getByText('Das ist keine E-Mail-Adresse').waitFor();
    await isFine(page);
    await page.getByLabel('E-Mail-Adresse').fill(address);
    await press(page, 'Link senden');
    await title(page, 'Sehen Sie in Ihr Postfach');
    await isFine(page);

    const link = await linkTo(address, '/register');
    expect(link.startsWith(`${issuer}/`)).toBe(true);
    await page.goto(link);
    await page.getByText(`Das Konto wird zu ${address} gehören.`).waitFor();
    await focused(page.getByLabel('Name')).waitFor();
    await isFine(page);
    await page.getByLabel('Name').fill('ü');
    await page.locator('#password').fill('ein eigenes Passwort');
    await press(page, 'Das Konto anlegen');
    await page.getByRole('alert').getByText('Wählen Sie einen Namen').waitFor();
    await isFine(page);
    await page.getByLabel('Name').fill('neuling');
    await page.locator('#password').fill('password');
    await press(page, 'Das Konto anlegen');
    await page.getByRole('alert').getByText('eines der 10.000 häufigsten').waitFor();
    await page.locator('#password').fill('ein eigenes Passwort');
    await page.keyboard.press('Enter');
    await title(page, 'Ihr Konto ist da');
    await isFine(page);
    await page.goto(link);
    await title(page, 'Dieser Link funktioniert nicht');
    await isFine(page);

    await page.goto(`${issuer}/account`);
    await page.getByLabel('Name').fill('neuling');
    await page.locator('#password').fill('ein eigenes Passwort');
    await press(page, 'Anmelden');
    await page.getByText('Sie sind neuling').waitFor();
    await isFine(page);
    await page.goto(`${issuer}/account/second-factor`);
    await page.getByLabel('Code aus sechs Ziffern').waitFor();
    await isFine(page);
    const cookies = await page.context().cookies();
    expect(cookies.filter(({ secure }) => !secure)).toEqual([]);
  });

  test('a person who forgot the password gets a link to the same origin, and sets another password', async () => {
    const person = await pair.addPerson('vergesslich');
    const address = 'vergesslich@example.com';
    await pair.cli('user', 'set', person.name, '--email', `${address},verified`);
    const page = await german();
    await page.goto(`${issuer}/recover`);
    await title(page, 'Passwort vergessen?');
    await isFine(page);
    await page.getByLabel('Name').fill(person.name);
    await press(page, 'Link schicken');
    await title(page, 'Sehen Sie in Ihr Postfach');
    const link = await linkTo(address, '/recover');
    expect(link.startsWith(`${issuer}/`)).toBe(true);
    await page.goto(link);
    await title(page, 'Ein neues Passwort setzen');
    await isFine(page);
    await page.locator('#password').fill('ein anderes Passwort');
    await press(page, 'Dieses Passwort setzen');
    await title(page, 'Ihr Passwort ist gesetzt');
    await isFine(page);
    await page.getByRole('link', { name: 'Zu Ihrem Konto' }).click();
    await signIn(page, person);
    await page.getByRole('alert').waitFor();
    await signIn(page, { ...person, password: 'ein anderes Passwort' });
    await page.getByText(`Sie sind ${person.name}`).waitFor();
  });

  test('a new person registers with a passkey, and signs in with it', async () => {
    const [page, address] = [await german(), 'fingerabdruck@example.com'];
    await withAuthenticator(page);
    await page.goto(`${issuer}/register`);
    await page.getByLabel('E-Mail-Adresse').fill(address);
    await press(page, 'Link senden');
    await page.goto(await linkTo(address, '/register'));
    await page.getByLabel('Name').fill('finger');
    await press(page, 'Mit einem Passkey anlegen, ohne Passwort');
    await title(page, 'Ihr Konto ist da');
    await page.getByRole('link', { name: 'Zu Ihrem Konto' }).click();
    await press(page, 'Passkey benutzen');
    await page.getByText('Sie sind finger').waitFor();
    expect(await pair.cli('user', 'show', 'finger')).toMatchObject({ passwordless: true });
    const listed = await pair.cli('user', 'list', '--email', address);
    expect(listed).toMatchObject([{ name: 'finger' }]);
  });

  test('RFC 6238 section 5.2: a code one step off is accepted, and two steps ahead refused; links help without the app', async () => {
    const person = await pair.addPerson('nachzuegler');
    const page = await german();
    await signIn(page, person);
    await page.getByText(`Sie sind ${person.name}`).waitFor();
    await page.goto(`${issuer}/account/second-factor`);
    const app = appFrom({ text: await page.content() }, { clock: systemClock });
    const send = async (code: string, button: string) => {
      await page.getByLabel('Code aus sechs Ziffern').fill(code);
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST'),
        press(page, button),
      ]);
      return answer.status();
    };
    let used = app(-1);
    // If a time step ends meanwhile, the code is two steps old.
    if ((await send(used, 'Einrichten')) === 422) await send((used = app(-1)), 'Einrichten');
    await title(page, 'Bewahren Sie diese Ersatzcodes auf');
    await isFine(page);
    const [first = ''] = await page.locator('code').allInnerTexts();
    await page.context().clearCookies();
    await signIn(page, person);
    for (const wrong of [app(3), used]) {
      expect(await send(wrong, 'Weiter')).toBe(422);
      await page.getByRole('alert').getByText('zu alt oder wurde schon verwendet').waitFor();
    }
    await isFine(page);
    expect(await send(app(1), 'Weiter')).toBe(303);
    await page.getByText(`Sie sind ${person.name}`).waitFor();

    // Without password and app: a link sets the password, and a recovery code replaces the app's code.
    const password = 'ein anderes Passwort';
    await page.goto(await recover(person.name));
    await page.getByText('Auch ein zweiter Faktor bleibt').waitFor();
    await page.locator('#password').fill(password);
    await press(page, 'Dieses Passwort setzen');
    await title(page, 'Ihr Passwort ist gesetzt');
    await signIn(page, { ...person, password });
    await page.getByText('Stattdessen einen Ersatzcode verwenden').click();
    await page.getByLabel('Ersatzcode', { exact: true }).fill(first);
    await press(page, 'Weiter');
    await page.getByText(`Sie sind ${person.name}`).waitFor();

    // Without password, app and codes: a link removes the second factor, and makes a passkey instead of the
    // password.
    await page.context().clearCookies();
    await withAuthenticator(page);
    await page.goto(await recover(person.name, '--second-factor'));
    await page.getByText('Auch Ihr zweiter Faktor wird entfernt').waitFor();
    await press(page, 'Passkey erzeugen und kein Passwort haben');
    await title(page, 'Ihr Passkey ist erzeugt');
    await page.getByRole('link', { name: 'Zu Ihrem Konto' }).click();
    await press(page, 'Passkey benutzen');
    await page.getByText(`Sie sind ${person.name}`).waitFor();
    expect(await pair.cli('user', 'show', person.name)).toMatchObject({ passwordless: true });
  });
});
