import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import type { Flow } from './flow.ts';
import { LIMITS, startFlowOn, STORE_KINDS } from './flow.ts';
import {
  accesses,
  App,
  INVALID_GRANT,
  newPerson,
  refusal,
  sent,
  signedIn,
  type Tokens,
  tokensIn,
} from './person.ts';

const GRANTS = 8;
const NOT_FOR = 'You may not use this application';

describe.each(STORE_KINDS)('on %s: an application for a group', (kind) => {
  let flow: Flow;
  let app: App;
  beforeAll(async () => {
    const limits = { ...LIMITS, signIn: { burst: 1000, per: 1 }, account: { burst: 1000, per: 1 } };
    flow = await startFlowOn(kind, { authz: 2, settings: { limits, tokens: { refreshGrace: 0 } } });
    app = await App.add(flow, '--allow-group', 'staff');
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const isLive = async (token: string) => (await flow.pair.get(token)) === 200;

  async function member(): Promise<Person> {
    const person = await newPerson(flow);
    await flow.pair.cli('user', 'set', person.name, '--group', 'staff');
    return person;
  }

  /** Refreshes at both servers until the server refuses. Adds each access token to `got`. */
  async function refreshing({ refresh }: Tokens, got: string[]): Promise<void> {
    for (let next = refresh, turn = 0; ; turn += 1) {
      const answer = await app.refresh(next, {}, {}, turn % 2);
      if (answer.status !== 200) {
        expect(refusal(answer)).toEqual(INVALID_GRANT);
        return;
      }
      const tokens = tokensIn(answer);
      got.push(tokens.access);
      next = tokens.refresh;
    }
  }

  /** Redeems code after code until the person may not use the application. */
  async function redeeming(browser: TestBrowser, got: string[]): Promise<void> {
    for (;;) {
      const page = await browser.open(app.url());
      if (page.text.includes(NOT_FOR)) return;
      const redeemed = await app.redeem(sent(page).get('code') ?? '');
      if (redeemed.status === 200) got.push(tokensIn(redeemed).access);
    }
  }

  test('a person loses the group while their grants are refreshed and codes are redeemed: nothing is left', async () => {
    const person = await member();
    const browsers = await Promise.all(
      Array.from({ length: GRANTS }, (_, n) => signedIn(flow, person, n % 2)),
    );
    const given = await Promise.all(browsers.map((browser) => app.tokens(browser)));
    const refreshed: string[] = [];
    const redeemed: string[] = [];
    const working = Promise.all([
      ...given.map((tokens) => refreshing(tokens, refreshed)),
      ...browsers.map((browser) => redeeming(browser, redeemed)),
    ]);
    await until(() => Math.min(refreshed.length, redeemed.length) >= GRANTS);
    await flow.pair.cli('user', 'set', person.name, '--without', 'group');
    await working;
    const lost = [...given.map(({ access }) => access), ...refreshed, ...redeemed];
    for (const token of new Set(lost)) expect(await isLive(token)).toBe(false);
  });

  test('a person loses the group while fifty refresh tokens are used at once: nothing is left', async () => {
    const person = await member();
    const browsers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => signedIn(flow, person, n % 2)),
    );
    const given: Tokens[] = [];
    for (let round = 0; round < 5; round += 1) {
      given.push(...(await Promise.all(browsers.map((browser) => app.tokens(browser)))));
    }
    const refreshed: string[] = [];
    const working = Promise.all(given.map((tokens) => refreshing(tokens, refreshed)));
    await until(() => refreshed.length >= given.length);
    await flow.pair.cli('user', 'set', person.name, '--without', 'group');
    await working;
    for (const token of [...given.map(({ access }) => access), ...refreshed]) {
      expect(await isLive(token)).toBe(false);
    }
    expect(await accesses(flow, person)).toEqual([]);
  });

  test('servers end what a changed rule forbids, also if the command was killed after the change', async () => {
    const person = await member();
    const { access, refresh } = await app.tokens(await signedIn(flow, person));
    expect(await isLive(access)).toBe(true);
    const { clients } = flow.stores;
    const client = await clients.get(app.id);
    await clients.replace({ ...client!, allow_groups: ['board'] }, client);
    expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
    await until(async () => !(await isLive(access)));
    await clients.replace(client!);
  });

  test('client set returns when the grants have ended', async () => {
    const person = await member();
    const { access } = await app.tokens(await signedIn(flow, person));
    await flow.pair.cli('client', 'set', app.id, '--allow-group', 'board');
    expect(await isLive(access)).toBe(false);
    await flow.pair.cli('client', 'set', app.id, '--without', 'allow-group');
    expect((await app.tokens(await signedIn(flow, person))).access).not.toBe('');
  });
});
