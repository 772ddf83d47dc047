import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { secretFrom, unusedCodes } from '../../authz-server/integration/second-factor.fixture.ts';
import { addPeopleClient, DEVICE_FLOW } from '../pair/people-client.ts';
import type { Pair, Person } from '../pair/pair.ts';
import { startPair } from '../pair/pair.ts';
import { startCallback } from '../parts/callback.ts';
import { Firefox } from '../parts/firefox.ts';
import { addApp } from './browser.fixture.ts';

/** The pages in a browser without script. This browser is Firefox, as the other flows use Chromium. */
let pair: Pair;
let firefox: Firefox;
let alice: Person;
beforeAll(async () => {
  pair = await startPair({
    issuerHost: 'localhost',
    settings: { people: { registration: 'invited' } },
  });
  firefox = await Firefox.start();
  alice = await pair.addPerson('alice');
});
afterAll(async () => {
  await firefox?.[Symbol.asyncDispose]();
  await pair?.[Symbol.asyncDispose]();
});

const open = (path: string) => firefox.open(pair.issuer + path);

async function signIn({ name, password }: Pick<Person, 'name' | 'password'>): Promise<void> {
  await firefox.type('name', name);
  await firefox.type('password', password);
  await firefox.press('button', 'Sign in');
}

async function signOut(): Promise<void> {
  await open('/sign-out');
  await firefox.press('button', 'Sign out');
}

describe('in Firefox without script', () => {
  test('a person signs in by password, and no page shows an element that needs script', async () => {
    await open('/account');
    const asked = await firefox.text();
    expect(asked).toContain('to go to your account');
    for (const hidden of ['Show', 'Use a passkey', 'No passkey was used']) {
      expect(asked).not.toContain(hidden);
    }
    await signIn(alice);
    const account = await firefox.text();
    expect(account).toContain('You are alice.');
    expect(account).toContain('Firefox on Linux');
  });

  test('the page of passkeys says that script is missing', async () => {
    await open('/account');
    await firefox.press('link', 'Make a passkey');
    const text = await firefox.text();
    expect(text).toContain('This browser does not support passkeys, or its scripts are off.');
    expect(text).not.toContain('The browser made no passkey:');
  });

  test('a person changes the password, and each refusal says what to do', async () => {
    await open('/account');
    await firefox.press('link', 'Change the password');
    await firefox.type('current', alice.password);
    await firefox.type('password', 'password1');
    await firefox.press('button', 'Change password');
    expect(await firefox.text()).toContain('10,000 most common');
    const next = 'another correct horse';
    await firefox.type('current', alice.password);
    await firefox.type('password', next);
    await firefox.press('button', 'Change password');
    expect(await firefox.text()).toContain('Your password is changed');
    await open('/sign-out');
    await firefox.press('button', 'Sign out');
    await open('/account');
    await signIn({ name: 'alice', password: next });
    expect(await firefox.text()).toContain('You are alice.');
  });

  test('a person revokes everything, after a page that lists it', async () => {
    await open('/account');
    await firefox.press('link', 'End everything');
    expect(await firefox.text()).toContain('These browsers will be signed out:');
    await firefox.press('button', 'End everything');
    expect(await firefox.text()).toContain('Everything has ended');
  });

  test("a new person makes an account by an operator's link, after a name that is taken", async () => {
    const { link } = await pair.cli('user', 'invite', '--email', 'newcomer@example.com');
    await firefox.open(String(link));
    const asked = await firefox.text();
    expect(asked).toContain('newcomer@example.com');
    expect(asked).not.toContain('Create it with a passkey');
    await firefox.type('name', 'alice');
    await firefox.type('password', 'correct horse battery');
    await firefox.press('button', 'Create the account');
    expect(await firefox.text()).toContain(
      'This name is taken, or looks too much like a name that is taken.',
    );
    await firefox.type('name', 'newcomer');
    await firefox.type('password', 'correct horse battery');
    await firefox.press('button', 'Create the account');
    expect(await firefox.text()).toContain('Your account is made');
    await firefox.press('link', 'Go to your account');
    await signIn({ name: 'newcomer', password: 'correct horse battery' });
    expect(await firefox.text()).toContain('You are newcomer.');
    await signOut();
  });

  test('a link for a new password works once, and then leads to the sign-in', async () => {
    const bob = await pair.addPerson('bob');
    const { link } = await pair.cli('user', 'recover', bob.name);
    await firefox.open(String(link));
    expect(await firefox.text()).toContain('Set a new password');
    const password = 'horses in the correct battery';
    await firefox.type('password', password);
    await firefox.press('button', 'Set this password');
    await firefox.press('link', 'Go to your account');
    await signIn({ name: 'bob', password });
    expect(await firefox.text()).toContain('You are bob.');
    await signOut();
    await firefox.open(String(link));
    expect(await firefox.text()).toContain('This link does not work');
    await firefox.press('link', 'Go to the sign-in');
    expect(await firefox.text()).toContain('to go to your account');
  });

  test('a person sets up a second factor, and is asked for its code after the password', async () => {
    const carol = await pair.addPerson('carol');
    await open('/account');
    await signIn(carol);
    await firefox.press('link', 'Set up a second factor');
    await firefox.unfold();
    const [, secret = ''] = /secret into the app:\s*([A-Z2-7 ]+)/.exec(await firefox.text()) ?? [];
    const code = unusedCodes(secretFrom(secret), { clock: systemClock });
    await firefox.type('code', code());
    await firefox.press('button', 'Set it up');
    expect(await firefox.text()).toContain('Keep these recovery codes');
    await firefox.press('link', 'I have saved them: continue');
    await signOut();
    await open('/account');
    await signIn(carol);
    const asked = await firefox.text();
    expect(asked).toContain('Enter your code');
    expect(asked).toContain('Use a recovery code instead');
    await firefox.type('code', code());
    await firefox.press('button', 'Continue');
    expect(await firefox.text()).toContain('You are carol.');
    await signOut();
  });

  test('a person allows an application, and revokes the access after a page that asks', async () => {
    await using callback = await startCallback();
    const app = await addApp(pair, callback);
    const asked = await app.ask({ scope: 'openid documents:read' });
    await firefox.open(asked.url);
    await signIn(await pair.addPerson('dave'));
    expect(await firefox.text()).toContain('Allow access to Test app?');
    await firefox.press('button', 'Allow');
    const { access_token: token } = await asked.tokens();
    expect(await pair.get(token)).toBe(200);
    await open('/account');
    await firefox.press('button', 'End the access of Test app');
    expect(await firefox.text()).toContain('End the access of this application?');
    await firefox.press('button', 'End the access');
    expect(await firefox.text()).toContain('The application has no access any more');
    expect(await pair.get(token)).toBe(401);
  });

  test('a person connects a device by its code', async () => {
    const { id } = await addPeopleClient(pair, '--public', ...DEVICE_FLOW);
    const body = new URLSearchParams({ client_id: id, scope: 'documents:read' });
    const answer = await fetch(`${pair.issuer}/device/auth`, { method: 'POST', body });
    const { user_code } = (await answer.json()) as { readonly user_code: string };
    await open('/device');
    await firefox.type('user_code', 'BCDF-GHJK');
    await firefox.press('button', 'Continue');
    expect(await firefox.text()).toContain('This code is wrong');
    await firefox.type('user_code', user_code);
    await firefox.press('button', 'Continue');
    expect(await firefox.text()).toContain('Connect Test app?');
    await firefox.press('button', 'Allow');
    expect(await firefox.text()).toContain('Your device is connected');
  });
});
