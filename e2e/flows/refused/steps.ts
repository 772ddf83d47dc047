/** Steps that people repeat on the way to a refusal. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Person } from '../../pair/pair.ts';
import type { BrowserFlow } from '../browser.fixture.ts';
import { LIMITS } from '../flow.ts';

/** Settings with low limits, and with a group that needs a second factor. */
const FEW = { burst: 3, per: 600 };
export const CAREFUL = 'careful';
export const STRICT = {
  limits: { ...LIMITS, account: FEW, secondFactor: FEW, userCode: FEW },
  people: {
    registration: 'open',
    removeThemselves: true,
    secondFactor: { required: [CAREFUL] },
  },
};

/** One attempt more than each limit allows, and more than the messages to one address. */
export async function tooOften(attempt: () => Promise<Page>): Promise<Page> {
  for (let made = 0; made < FEW.burst; made += 1) await attempt();
  return attempt();
}

/**
 * Follows each way, at whose end a page shows the sentence of its refusal. It compiles only if every
 * refusal of `sentences` has a way.
 */
export async function meets<Refusal extends string>(
  sentences: Readonly<Record<Refusal, string>>,
  ways: Readonly<Record<NoInfer<Refusal>, () => Promise<Page>>>,
): Promise<void> {
  for (const refusal of Object.keys(ways) as Refusal[]) {
    const page = await ways[refusal]();
    await says(page, sentences[refusal]);
  }
}

export async function says(page: Page, sentence: string): Promise<void> {
  await expect(page.locator('main').innerText()).resolves.toContain(sentence);
}

/** Does an action that leads to another page, and waits for that page. */
async function follows(page: Page, act: () => Promise<unknown>): Promise<Page> {
  await Promise.all([page.waitForEvent('domcontentloaded'), act()]);
  return page;
}

/** Clicks a button that submits its form. */
export const press = (page: Page, name: string): Promise<Page> =>
  follows(page, () => page.getByRole('button', { name, exact: true }).click());

/** Presses Enter in the focused field. A script may first ask an authenticator. */
export const pressEnter = (page: Page): Promise<Page> =>
  follows(page, () => page.keyboard.press('Enter'));

/** Submits the form for name and password. */
export async function enter(
  page: Page,
  { name, password }: Pick<Person, 'name' | 'password'>,
): Promise<Page> {
  await page.locator('#name').fill(name);
  await page.locator('#password').fill(password);
  return press(page, 'Sign in');
}

/** A new person, just signed in, at this page. */
export async function visitAt(flow: BrowserFlow, path: string, person?: Person) {
  const visitor = await flow.visit(person && { person });
  await visitor.page.goto(flow.pair.issuer + path);
  await enter(visitor.page, visitor.person);
  return visitor;
}

/** Makes the person need a second factor from now on. */
export const becomeCareful = ({ pair }: BrowserFlow, { name }: Person) =>
  pair.cli('user', 'set', name, '--group', CAREFUL);

/** Makes a person's only session older by this many seconds. */
export async function grow(
  { flow: { stores } }: BrowserFlow,
  { id: accountId }: Person,
  seconds: number,
): Promise<void> {
  const [signIn = {}] = await stores.artefacts.listByAccount('SignIn', accountId);
  const uid = String(signIn['uid']);
  const session = (await stores.artefacts.getByUid('Session', uid)) ?? {};
  const loginTs = Number(session['loginTs']) - seconds;
  const since = Number(signIn['since']) - seconds * 1000;
  for (const [kind, id, payload] of [
    ['SignIn', uid, { ...signIn, since }],
    ['Session', String(session['jti']), { ...session, loginTs }],
  ] as const) {
    await stores.artefacts.put({ kind, id, payload, seconds: 3600 });
  }
}
