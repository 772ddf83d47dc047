/** @slow */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { startApplication, toldBy } from '../../authz-server/integration/pages/logouts.fixture.ts';
import type { Answered, Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { type Flow, startFlowOn, STORE_KINDS } from './flow.ts';
import { accesses, alsoAt, App, newPerson, signedIn, tokensIn } from './person.ts';

const FIFTY = 50;
/** The end begins when so many requests have their answers. */
const BEFORE = 5;
const SCOPE = { scope: 'openid documents:read' };

describe.each(STORE_KINDS)('on %s: fifty requests at two servers while something ends', (kind) => {
  const parts = new AsyncDisposableStack();
  let flow: Flow;
  let application: Awaited<ReturnType<typeof startApplication>>;
  let app: App;
  beforeAll(async () => {
    flow = parts.use(await startFlowOn(kind, { authz: 2 }));
    application = parts.use(await startApplication());
    const options = {
      '--logout-url': application.client.backchannel_logout_uri,
      '--allow-group': 'staff',
      '--claim': 'role=admin if group staff',
    };
    app = await App.add(flow, ...Object.entries(options).flat(), '--claim', 'role=user');
  });
  afterAll(async () => parts[Symbol.asyncDispose]());

  async function newColleague(): Promise<Person> {
    const person = await newPerson(flow);
    await flow.pair.cli('user', 'set', person.name, '--group', 'staff');
    return person;
  }

  async function manyCodes(browser: TestBrowser): Promise<string[]> {
    const codes: string[] = [];
    while (codes.length < FIFTY) codes.push(await app.code(browser, SCOPE));
    return codes;
  }

  async function userinfo(token: string, server: number): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${flow.pair.authz[server]?.url}/userinfo`, { headers })).status;
  }

  /** Expects that no issued token works any more, and that every claim was true when it was issued. */
  async function expectOver(person: Person, answers: readonly Answered[]): Promise<void> {
    const issued = answers.filter(({ status }) => status === 200).map(tokensIn);
    expect(issued.length).toBeGreaterThanOrEqual(BEFORE);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.filter(({ body }) => body['error'] !== 'invalid_grant')).toEqual([]);
    for (const [n, { access, refresh }] of issued.entries()) {
      expect(decodeJwt(access)['role']).toBe('admin');
      expect(await userinfo(access, n % 2)).toBe(401);
      expect(await flow.pair.get(access)).toBe(401);
      expect((await app.refresh(refresh, {}, {}, n % 2)).status).toBe(400);
    }
    expect(await accesses(flow, person)).toEqual([]);
  }

  /** Expects one logout token for the session of the browser. */
  async function expectTold({ id: sub }: Person, id: string): Promise<void> {
    await until(async () => (await flow.stores.logouts.backlog()).count === 0);
    const { sid } = decodeJwt(id);
    const told = toldBy(application.tokens).filter((one) => 'sid' in one);
    expect(told).toEqual([{ sub, sid }]);
  }

  /** Ends something, once or fifty times. */
  type End = (person: Person, browser: TestBrowser) => Promise<unknown>;
  const ENDS: Readonly<Record<string, End>> = {
    'user disable': ({ name }) => flow.pair.cli('user', 'disable', name),
    'user end': ({ name }) => flow.pair.cli('user', 'end', name),
    'user remove': ({ name }) => flow.pair.cli('user', 'remove', name),
    'user set --without group': ({ name }) =>
      flow.pair.cli('user', 'set', name, '--without', 'group'),
    'fifty sign-outs of the browser': async (_person, browser) => {
      const page = await browser.open('/sign-out');
      const pressed = Array.from({ length: FIFTY }, (_, n) =>
        alsoAt(flow, browser, n % 2).send(page, { logout: 'yes' }),
      );
      const statuses = (await Promise.all(pressed)).map(({ status }) => status);
      expect(statuses.filter((status) => ![200, 303].includes(status))).toEqual([]);
    },
  };

  test.each(Object.entries(ENDS))('codes are redeemed: %s', async (_name, end) => {
    const person = await newColleague();
    const browser = await signedIn(flow, person);
    const codes = await manyCodes(browser);
    application.tokens.length = 0;
    const answers: Answered[] = [];
    let ending: Promise<unknown> | undefined;
    const redeemSome = async (lane: number) => {
      for (let code = codes.pop(); code !== undefined; code = codes.pop()) {
        answers.push(await app.redeem(code, {}, {}, lane % 2));
        if (answers.length === BEFORE) ending = end(person, browser);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, lane) => redeemSome(lane)));
    await ending;
    await expectOver(person, answers);
    const first = answers.find(({ status }) => status === 200);
    await expectTold(person, first ? tokensIn(first).id : '');
  });

  test.each(Object.entries(ENDS))(
    'a token is refreshed again and again: %s',
    async (_name, end) => {
      const person = await newColleague();
      const browser = await signedIn(flow, person);
      let { refresh, id } = await app.tokens(browser, SCOPE);
      application.tokens.length = 0;
      const answers: Answered[] = [];
      let ending: Promise<unknown> | undefined;
      for (let status = 200; status === 200;) {
        const answer = await app.refresh(refresh, {}, {}, answers.length % 2);
        answers.push(answer);
        ({ status } = answer);
        if (status === 200) ({ refresh } = tokensIn(answer));
        if (answers.length === BEFORE) ending = end(person, browser);
      }
      await ending;
      await expectOver(person, answers);
      await expectTold(person, id);
    },
  );
});
