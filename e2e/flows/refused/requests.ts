/**
 * Refusals of people who follow a link, of people who decide for a device or an application, and of late
 * decisions.
 */
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ACRS } from '#shared/jose/acr.ts';
import type { ErrorProps } from '../../../authz-server/pages/frame/view.ts';
import { textsOf } from '../../../authz-server/pages/texts/index.ts';
import type { BrowserFlow } from '../browser.fixture.ts';
import { addDevice, post } from '../person.ts';
import { enter, grow, meets, press, says, tooOften, visitAt } from './steps.ts';

const {
  addresses,
  changePassword,
  deviceEnd,
  deviceEntry,
  error,
  forgotten,
  recover,
  registration,
  signIn,
} = textsOf('en');

const [, , BY_SECOND_FACTOR, BY_PASSKEY] = ACRS;

/** A device that waits for a person; resolves to the code that the device shows. */
async function askAsDevice({ flow }: BrowserFlow, more: Readonly<Record<string, string>> = {}) {
  const client_id = await addDevice(flow);
  const asked = { client_id, scope: 'documents:read', ...more };
  return String((await post(flow, '/device/auth', asked)).body['user_code']);
}

/** Submits the form of a link for a new account. */
async function choose(page: Page, name: string): Promise<Page> {
  await page.locator('#name').fill(name);
  await page.locator('#password').fill('correct horse battery');
  return press(page, registration.finish.submit);
}

export async function forgetsThePassword(flow: BrowserFlow): Promise<void> {
  const { page, person } = await flow.visit();
  const { issuer } = flow.pair;
  await meets(
    { later: forgotten.later, gone: recover.gone.text },
    {
      later: () =>
        tooOften(async () => {
          await page.goto(`${issuer}/recover`);
          await page.locator('#name').fill(person.name);
          return press(page, forgotten.submit);
        }),
      async gone() {
        const { link } = await flow.pair.cli('user', 'recover', person.name);
        await page.goto(String(link));
        await page.locator('#password').fill('another correct horse');
        await press(page, recover.submit);
        await page.goto(String(link));
        return page;
      },
    },
  );
}

export async function registers(flow: BrowserFlow): Promise<void> {
  const { page, person } = await flow.visit();
  const address = `${randomUUID()}@example.com`;
  const ask = async (typed: string) => {
    await page.goto(`${flow.pair.issuer}/register`);
    await page.locator('#address').fill(typed);
    return press(page, registration.send);
  };
  const { link } = await flow.pair.cli('user', 'invite', '--email', address);
  const chooseAt = async (name: string) => {
    await page.goto(String(link));
    return choose(page, name);
  };
  await meets(
    { ...registration.problems, gone: registration.gone.text },
    {
      // A browser accepts this address, but no mail server does.
      address: () => ask('new@example'),
      later: () => tooOften(() => ask(address)),
      name: () => chooseAt('-'),
      taken: () => chooseAt(person.name),
      async gone() {
        await chooseAt(`new-${randomUUID().slice(0, 8)}`);
        await page.goto(String(link));
        return page;
      },
    },
  );
}

export async function changesTheAddress(flow: BrowserFlow): Promise<void> {
  const { page, person } = await flow.visit();
  const path = '/account/address';
  const own = `${person.name}@example.com`;
  await flow.pair.cli('user', 'set', person.name, '--email', `${own},verified`);
  await page.goto(flow.pair.issuer + path);
  await enter(page, person);
  const ask = async (typed: string) => {
    await page.locator('#address').fill(typed);
    return press(page, addresses.send);
  };
  await meets(
    { ...addresses.problems, gone: addresses.gone.text },
    {
      address: () => ask('new@example'),
      verified: () => ask(own),
      later: () => tooOften(() => ask(`new.${own}`)),
      async gone() {
        await page.goto(`${flow.pair.issuer}${path}/${'A'.repeat(22)}`);
        return page;
      },
    },
  );
}

export async function connectsADevice(flow: BrowserFlow): Promise<void> {
  const { page } = await visitAt(flow, '/device');
  const guess = async () => {
    await page.locator('#code').fill('BCDF-GHJK');
    return press(page, deviceEntry.submit);
  };
  await meets<'unknown' | 'later'>(deviceEntry, { unknown: guess, later: () => tooOften(guess) });
  // Two people have opened the page of one code.
  const path = `/device?user_code=${await askAsDevice(flow)}`;
  const { page: first } = await visitAt(flow, path);
  const { page: second } = await visitAt(flow, path);
  const { denied, expired } = deviceEnd;
  await meets(
    { denied: denied.text, expired: expired.text },
    { denied: () => press(first, 'Deny'), expired: () => press(second, 'Allow') },
  );
}

export async function isAskedForMore(flow: BrowserFlow): Promise<void> {
  const { issuer } = flow.pair;
  const { page, person } = await visitAt(flow, '/account');
  // This notice is not a refusal.
  const { 'passkey-removed': _removed, ...notices } = signIn.notices;
  await meets(notices, {
    async again() {
      await grow(flow, person, 301);
      await page.goto(`${issuer}/account/passkeys`);
      return page;
    },
    async 'again-for-data'() {
      await page.goto(`${issuer}/account/data/file`);
      return page;
    },
    async 'again-to-remove'() {
      await page.goto(`${issuer}/account/remove`);
      return page;
    },
    async 'nothing-ended'() {
      await enter(page, person);
      await page.goto(`${issuer}/account/end`);
      await flow.pair.cli('user', 'end', person.name);
      return press(page, 'End everything');
    },
    async 'nothing-changed'() {
      await enter(page, person);
      await page.goto(`${issuer}/account/password`);
      await page.locator('#current').fill(person.password);
      await page.locator('#password').fill('another correct horse battery');
      await flow.pair.cli('user', 'end', person.name);
      return press(page, changePassword.title);
    },
    async 'not-enough'() {
      const code = await askAsDevice(flow, { acr_values: BY_PASSKEY });
      await page.goto(`${issuer}/device?user_code=${code}`);
      return enter(page, person);
    },
    async admin() {
      await flow.pair.cli('user', 'set', person.name, '--admin');
      await grow(flow, person, 1000);
      await page.goto(`${issuer}/admin`);
      return page;
    },
  });

  const ask = async (more: Readonly<Record<string, string>>) => {
    const asked = await flow.app.ask(more);
    await page.goto(asked.url);
    return asked;
  };
  await ask({ max_age: '60' });
  expect(await page.locator('main').innerText()).toMatch(
    /You last signed in .* ago. Sign in again to continue./,
  );
  await ask({ acr_values: BY_SECOND_FACTOR });
  await says(
    page,
    'Test app asks for a second factor or a passkey. A password alone is not enough.',
  );
  const asked = await ask({ acr_values: BY_PASSKEY });
  await says(page, 'Test app asks for a passkey. A password is not enough.');
  await press(page, signIn.cancel);
  await expect(asked.tokens()).rejects.toMatchObject({
    error: 'unmet_authentication_requirements',
  });
}

/** The server's own tests cover these: a store that does not answer, and a fault of the code. */
type OfServer = 'unavailable' | 'server';
type OfRequest = Exclude<ErrorProps['kind'], OfServer>;

export async function comesToAnError(flow: BrowserFlow): Promise<void> {
  const { issuer } = flow.pair;
  const { page, person, context } = await flow.visit();
  const sentences: Record<OfRequest, string> = {
    expired: error.expired.text,
    request: error.request.text,
    'not-found': error['not-found'].text,
    later: error.later.text,
    done: error.done.text,
  };
  await meets(sentences, {
    async done() {
      const visitor = await flow.visit();
      await flow.tokens(visitor);
      await visitor.page.goBack();
      return visitor.page;
    },
    async 'not-found'() {
      await page.goto(`${issuer}/nowhere`);
      return page;
    },
    async request() {
      await page.goto((await flow.app.ask({ redirect_uri: 'http://elsewhere.invalid/' })).url);
      return page;
    },
    async expired() {
      await page.goto(`${issuer}/account`);
      await context.clearCookies();
      return enter(page, person);
    },
    async later() {
      const email = `${randomUUID()}@example.com`;
      const { link } = await flow.pair.cli('user', 'invite', '--email', email);
      await page.goto(String(link));
      // The number of names that may be tried with one link.
      for (let tried = 0; tried < 20; tried += 1) await choose(page, '-');
      return choose(page, '-');
    },
  });
}
