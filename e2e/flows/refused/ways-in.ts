/** Refusals of people who sign in, and of people who change how they sign in. */
import type { Page } from 'playwright-core';
import { systemClock } from '#shared/base/clock.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { appFrom } from '../../../authz-server/integration/second-factor.fixture.ts';
import { textsOf } from '../../../authz-server/pages/texts/index.ts';
import { virtualAuthenticator } from '../../parts/virtual-authenticator.ts';
import type { BrowserFlow } from '../browser.fixture.ts';
import {
  becomeCareful,
  enter,
  meets,
  press,
  pressEnter,
  says,
  tooOften,
  visitAt,
} from './steps.ts';
import type { SignInProps } from '../../../authz-server/pages/views/sign-in.ts';

const { newPassword, passkeys, secondFactor, signIn } = textsOf('en');

const PASSKEYS = '/account/passkeys';
const SECOND_FACTOR = '/account/second-factor';

/** The authenticator app with the page's secret. */
const appOf = async (page: Page) => appFrom({ text: await page.content() }, { clock: systemClock });

async function sendCode(page: Page, code: string, button: string): Promise<Page> {
  await page.locator('#code').fill(code);
  return press(page, button);
}

/** A page whose device stores passkeys, and offers none before a click. */
async function withDevice(page: Page) {
  await page.addInitScript(
    'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
  );
  return virtualAuthenticator(page);
}

async function makePasskey(page: Page, name: string): Promise<Page> {
  await page.locator('#name').fill(name);
  return pressEnter(page);
}

async function removePasskey(page: Page, name: string): Promise<Page> {
  await press(page, `Remove the passkey ${name}`);
  return press(page, 'Remove the passkey');
}

/** Other tests of the suite cover these. */
type OfPasskey = 'passkey' | 'passkey-late' | 'passkey-copied';
/** Tests of sign-in by other providers cover these. */
type OfProvider = 'arrival-over' | 'arrival-needs-passkey';
type OfSignIn = Exclude<NonNullable<SignInProps['problem']>['kind'], OfPasskey | OfProvider>;

export async function signsIn(flow: BrowserFlow): Promise<void> {
  const { issuer } = flow.pair;
  const { page, person, context } = await flow.visit();
  const wrong = () => enter(page, { ...person, password: 'not this one' });
  const anew = async (somebody = person) => {
    await context.clearCookies();
    await page.goto(`${issuer}/account`);
    return enter(page, somebody);
  };
  await page.goto(`${issuer}/account`);
  await meets<OfSignIn>(signIn, {
    wrong,
    later: () => tooOften(wrong),
    async 'step-over'() {
      const { person: other } = await flow.visit();
      await becomeCareful(flow, other);
      await anew(other);
      // An operator sets another password meanwhile.
      await flow.pair.setPassword(other.name, 'another correct horse');
      return sendCode(page, '000000', 'Continue');
    },
    async 'codes-shown'() {
      const { person: other } = await flow.visit();
      await becomeCareful(flow, other);
      await anew(other);
      const app = await appOf(page);
      await sendCode(page, app(), 'Continue');
      await says(page, secondFactor.codes.title);
      // The browser's session would show these pages again.
      const { stores, config } = flow.flow;
      const store = { stores, clock: systemClock, longestLife: longestLife(config) };
      for (const begun of await listSignIns(store, other.id)) await endSignIn(store, begun);
      await page.reload();
      return page;
    },
    async 'use-passkey'() {
      const there = await visitAt(flow, PASSKEYS);
      await withDevice(there.page);
      await there.page.reload();
      await makePasskey(there.page, 'Laptop');
      await becomeCareful(flow, there.person);
      return anew(there.person);
    },
  });
}

export async function changesThePassword(flow: BrowserFlow): Promise<void> {
  const { page, person } = await visitAt(flow, '/account/password');
  const change = async (current: string, password: string) => {
    await page.locator('#current').fill(current);
    await page.locator('#password').fill(password);
    return press(page, 'Change password');
  };
  const wrong = () => change('not this one', 'another correct horse');
  await meets(newPassword.problems, {
    short: () => change(person.password, 'correct'),
    long: () => change(person.password, 'ö'.repeat(513)),
    characters: () => change(person.password, 'correct\u0007horse'),
    common: () => change(person.password, 'password1'),
    same: () => change(person.password, person.password),
    wrong,
    later: () => tooOften(wrong),
  });
}

export async function setsUpASecondFactor(flow: BrowserFlow): Promise<void> {
  const { page, person, context } = await visitAt(flow, SECOND_FACTOR);
  const app = await appOf(page);
  const wrong = () => sendCode(page, app(9), 'Continue');
  await meets(secondFactor.problems, {
    wrong: () => sendCode(page, app(9), secondFactor.account.setUp),
    async ways() {
      const tab = await context.newPage();
      await withDevice(tab);
      await tab.goto(flow.pair.issuer + PASSKEYS);
      await makePasskey(tab, 'Laptop');
      return sendCode(page, app(), secondFactor.account.setUp);
    },
    async recovery() {
      await sendCode(page, app(), secondFactor.account.setUp);
      await page.reload();
      await says(page, secondFactor.codes.title);
      await becomeCareful(flow, person);
      await page.goto(flow.pair.issuer + SECOND_FACTOR);
      await says(page, secondFactor.account.required);

      await context.clearCookies();
      await page.goto(`${flow.pair.issuer}/account`);
      await enter(page, person);
      await page.getByText(secondFactor.fields.recoveryInstead).click();
      await page.locator('#recovery').fill('00000-00000');
      return press(page, 'Continue');
    },
    later: () => tooOften(wrong),
  });
}

export async function keepsPasskeys(flow: BrowserFlow): Promise<void> {
  const { page, person } = await visitAt(flow, PASSKEYS);
  const device = await withDevice(page);
  await page.goto(flow.pair.issuer + PASSKEYS);
  // Another test covers the five minutes. A device never makes a passkey twice: the server's own tests
  // cover that refusal.
  const { late: _late, taken: _taken, ...problems } = passkeys.problems;
  await meets(problems, {
    name: () => makePasskey(page, '   '),
    async failed() {
      await device.answers(false);
      await page.locator('#name').fill('Laptop');
      await page.keyboard.press('Enter');
      await page.getByText(passkeys.failed).waitFor();
      // A device with a wrong answer.
      await page.evaluate(
        "navigator.credentials.create = async () => ({ toJSON: () => ({ id: 'AAAA' }) })",
      );
      return makePasskey(page, 'Laptop');
    },
    async 'name-taken'() {
      await device.answers(true);
      await makePasskey(page, 'Laptop');
      const { page: phone } = await visitAt(flow, PASSKEYS, person);
      await withDevice(phone);
      await phone.reload();
      return makePasskey(phone, 'Laptop');
    },
    async gone() {
      const { page: phone } = await visitAt(flow, PASSKEYS, person);
      await removePasskey(phone, 'Laptop');
      await page.getByText(passkeys.rename).first().click();
      await page.getByLabel(passkeys.newName).fill('Notebook');
      return press(page, passkeys.saveName);
    },
    async full() {
      const all = Array.from({ length: MOST_PASSKEYS }, (_, n) => n);
      for (const n of all) {
        const id = Buffer.from(`passkey ${n} of ${person.id}`).toString('base64url');
        const passkey = {
          ...somePasskey(id),
          accountId: person.id,
          rpId: 'localhost',
          name: `Device ${n}`,
          created_at: n,
        };
        await flow.flow.stores.passkeys.add(passkey, MOST_PASSKEYS);
      }
      await page.goto(flow.pair.issuer + PASSKEYS);
      return makePasskey(page, 'One more');
    },
    async last() {
      const visitor = await flow.visit();
      await withDevice(visitor.page);
      const { link } = await flow.pair.cli('user', 'recover', visitor.person.name);
      await visitor.page.goto(String(link));
      await press(visitor.page, 'Make a passkey instead of a password');
      await visitor.page.goto(flow.pair.issuer + PASSKEYS);
      await press(visitor.page, signIn.usePasskey);
      const name = await visitor.page.locator('.list h3').first().innerText();
      return removePasskey(visitor.page, name.replace(passkeys.current, '').trim());
    },
  });
}
