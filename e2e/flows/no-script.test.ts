import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pair, Person } from '../pair/pair.ts';
import { startPair } from '../pair/pair.ts';
import { Firefox } from '../parts/firefox.ts';

/** The pages in a browser without script, which is another one than that of the other flows. */
let pair: Pair;
let firefox: Firefox;
let alice: Person;
beforeAll(async () => {
  pair = await startPair({ issuerHost: 'localhost' });
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

describe('in Firefox without script', () => {
  test('the password works, and nothing that needs script is shown', async () => {
    await open('/account');
    const asked = await firefox.text();
    expect(asked).toContain('to go to your account');
    for (const hidden of ['Show', 'Use a passkey', 'The browser showed no passkey']) {
      expect(asked).not.toContain(hidden);
    }
    await signIn(alice);
    const account = await firefox.text();
    expect(account).toContain('You are alice.');
    expect(account).toContain('Firefox on Linux');
  });

  test('the page of passkeys says what is missing', async () => {
    await open('/account');
    await firefox.press('link', 'Make a passkey');
    const text = await firefox.text();
    expect(text).toContain('This browser makes no passkeys, or its scripts are off.');
    expect(text).not.toContain('The browser made no passkey:');
  });

  test('a person changes the password, and the refusals say what to do', async () => {
    await open('/account');
    await firefox.press('link', 'Change the password');
    await firefox.type('current', alice.password);
    await firefox.type('password', 'password1');
    await firefox.press('button', 'Change password');
    expect(await firefox.text()).toContain('10,000 commonest');
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

  test('everything ends after a page that lists it', async () => {
    await open('/account');
    await firefox.press('link', 'End everything');
    expect(await firefox.text()).toContain('These browsers will be signed out:');
    await firefox.press('button', 'End everything');
    expect(await firefox.text()).toContain('Everything has ended');
  });
});
