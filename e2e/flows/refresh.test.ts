import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type DpopProver, dpopProver } from '../setup/dpop-prover.ts';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';
import { accesses, App, asksToSignIn, INVALID_GRANT, newPerson } from './person.ts';
import { refusal, signedIn, tenTimes, tokensIn } from './person.ts';

let flow: Flow;
let app: App;
let person: Person;
let browser: TestBrowser;

async function open(kind: (typeof STORE_KINDS)[number], refreshGrace: number): Promise<void> {
  flow = await startFlowOn(kind, { authz: 2, settings: { tokens: { refreshGrace } } });
  app = await App.add(flow);
}

const close = async () => flow?.[Symbol.asyncDispose]();

async function arrive(): Promise<void> {
  person = await newPerson(flow);
  browser = await signedIn(flow, person);
}

const isLive = async (token: string) => (await flow.pair.get(token)) === 200;

describe.each(STORE_KINDS)('on %s: refresh tokens (RFC 6749 section 6)', (kind) => {
  beforeAll(() => open(kind, 0));
  beforeEach(arrive);
  afterAll(close);

  test('each use gives a new refresh token, with the same person, grant and scopes', async () => {
    const first = await app.tokens(browser);
    const second = tokensIn(await app.refresh(first.refresh, {}, {}, 1));
    const third = tokensIn(await app.refresh(second.refresh));
    expect(new Set([first, second, third].map(({ refresh }) => refresh)).size).toBe(3);
    const same = ({ access }: typeof first) => {
      const { sub, grant_id, scope, aud, acr, auth_time } = decodeJwt(access);
      return { sub, grant_id, scope, aud, acr, auth_time };
    };
    expect(same(third)).toEqual(same(first));
    expect(same(third).sub).toBe(person.id);
    expect(await Promise.all([first, second, third].map(({ access }) => isLive(access)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('RFC 9700 section 4.14.2: a second use of a refresh token revokes the grant, at the next request', async () => {
    const first = await app.tokens(browser);
    const second = tokensIn(await app.refresh(first.refresh));
    expect(await isLive(second.access)).toBe(true);
    expect(refusal(await app.refresh(first.refresh, {}, {}, 1))).toEqual(INVALID_GRANT);
    expect([await isLive(first.access), await isLive(second.access)]).toEqual([false, false]);
    expect(refusal(await app.refresh(second.refresh))).toEqual(INVALID_GRANT);
    expect(await accesses(flow, person)).toEqual([]);
  });

  test('RFC 9700 section 4.14.2: if it is used ten times at once, one use succeeds, and the grant is revoked', async () => {
    const other = await app.tokens(await signedIn(flow, person));
    const { refresh, access } = await app.tokens(browser);
    const answers = await tenTimes((server) => app.refresh(refresh, {}, {}, server));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    const refused = answers.filter(({ status }) => status !== 200).map(refusal);
    expect(refused).toEqual(refused.map(() => INVALID_GRANT));
    expect(await isLive(access)).toBe(false);
    for (const answer of given) {
      const tokens = tokensIn(answer);
      expect(await isLive(tokens.access)).toBe(false);
      expect(refusal(await app.refresh(tokens.refresh))).toEqual(INVALID_GRANT);
    }
    expect(await isLive(other.access)).toBe(true);
  });

  test("section 10.4: another client's refresh token is refused, and stays valid for its own client", async () => {
    const thief = await App.add(flow);
    const { refresh, access } = await app.tokens(browser);
    expect(refusal(await thief.refresh(refresh))).toEqual(INVALID_GRANT);
    expect(await isLive(access)).toBe(true);
    tokensIn(await app.refresh(refresh));
  });

  test('fewer scopes are granted for one token, and more scopes than granted are refused', async () => {
    const { refresh } = await app.tokens(browser);
    const narrow = tokensIn(await app.refresh(refresh, { scope: 'documents:read' }));
    expect(decodeJwt(narrow.access)['scope']).toBe('documents:read');
    const write = { method: 'PUT', headers: { authorization: `Bearer ${narrow.access}` } };
    const put = await fetch(`${flow.pair.documents}refused.txt`, { ...write, body: 'x' });
    expect(put.status).toBe(403);
    const wider = await app.refresh(narrow.refresh, { scope: 'documents:read openid' });
    expect(refusal(wider)).toEqual([400, 'invalid_scope']);
    const all = tokensIn(await app.refresh(narrow.refresh));
    expect(decodeJwt(all.access)['scope']).toBe('documents:read documents:write');
  });

  test('a refused scope is not added by a refresh', async () => {
    const page = await browser.open(app.url());
    const item = `${flow.pair.documents} documents:read`;
    const back = await browser.submit(page, { decision: 'allow', item });
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const { refresh } = tokensIn(await app.redeem(code));
    const { access } = tokensIn(await app.refresh(refresh));
    expect(decodeJwt(access)['scope']).toBe('documents:read');
    const scope = 'documents:read documents:write';
    expect(refusal(await app.refresh(refresh, { scope }))[0]).toBe(400);
  });

  test.each([
    ['passwd', () => flow.pair.setPassword(person.name, 'another battery staple')],
    ['disable', () => flow.pair.cli('user', 'disable', person.name)],
    ['end', () => flow.pair.cli('user', 'end', person.name)],
  ])(
    'after `user %s` the refresh token and its access tokens are refused',
    async (_command, end) => {
      const offline = { scope: 'offline_access documents:read', prompt: 'consent' };
      const tokens = [await app.tokens(browser), await app.tokens(browser, offline)];
      const bystander = await newPerson(flow);
      const other = await app.tokens(await signedIn(flow, bystander));
      expect(await Promise.all(tokens.map(({ access }) => isLive(access)))).toEqual([true, true]);
      await end();
      expect(await Promise.all(tokens.map(({ access }) => isLive(access)))).toEqual([false, false]);
      for (const server of [0, 1]) {
        for (const { refresh } of tokens) {
          expect(refusal(await app.refresh(refresh, {}, {}, server))).toEqual(INVALID_GRANT);
        }
      }
      expect(asksToSignIn(await browser.open('/account'))).toBe(true);
      expect(await isLive(other.access)).toBe(true);
      tokensIn(await app.refresh(other.refresh));
    },
  );

  describe('RFC 9449 section 5: a public client with a key', () => {
    let prover: DpopProver;
    const proofOf = async (key: DpopProver) => ({
      dpop: await key.proof({ method: 'POST', url: `${flow.pair.issuer}/token` }),
    });
    beforeEach(async () => {
      prover = await dpopProver();
    });
    const bound = async () =>
      tokensIn(await app.redeem(await app.code(browser), {}, await proofOf(prover)));

    test('the client keeps its refresh token, which only that key can use', async () => {
      const { refresh, access } = await bound();
      const other = await dpopProver();
      expect(refusal(await app.refresh(refresh, {}, await proofOf(other)))).toEqual(INVALID_GRANT);
      expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
      const again = await tenTimes(async (server) =>
        tokensIn(await app.refresh(refresh, {}, await proofOf(prover), server)),
      );
      expect(new Set(again.map((tokens) => tokens.refresh))).toEqual(new Set([refresh]));
      for (const token of [access, ...again.map((tokens) => tokens.access)]) {
        expect(await isLive(token)).toBe(false);
        const dpop = await prover.proof({
          method: 'GET',
          url: flow.pair.documents,
          accessToken: token,
        });
        const headers = { authorization: `DPoP ${token}`, dpop };
        expect((await fetch(flow.pair.documents, { headers })).status).toBe(200);
      }
    });

    test('section 11.1: a proof is accepted once', async () => {
      const { refresh } = await bound();
      const proof = await proofOf(prover);
      tokensIn(await app.refresh(refresh, {}, proof));
      expect((await app.refresh(refresh, {}, proof, 1)).status).toBe(400);
      tokensIn(await app.refresh(refresh, {}, await proofOf(prover), 1));
    });
  });
});

describe.each(STORE_KINDS)('on %s: tokens.refreshGrace for a lost answer', (kind) => {
  const GRACE = 5;
  beforeAll(() => open(kind, GRACE));
  beforeEach(arrive);
  afterAll(close);

  test('ten uses at once at two processes get the same successor, and the grant stays valid', async () => {
    const { refresh } = await app.tokens(browser);
    const answers = await tenTimes((server) => app.refresh(refresh, {}, {}, server));
    const tokens = answers.map(tokensIn);
    expect(new Set(tokens.map((one) => one.refresh)).size).toBe(1);
    expect(tokens[0]?.refresh).not.toBe(refresh);
    const live = await Promise.all(tokens.map(({ access }) => isLive(access)));
    expect(new Set(live)).toEqual(new Set([true]));
    tokensIn(await app.refresh(tokens[0]?.refresh ?? ''));
  });

  test("RFC 9700 section 4.14.2: after the successor's use, the first token is reuse", async () => {
    const { refresh } = await app.tokens(browser);
    const second = tokensIn(await app.refresh(refresh));
    const third = tokensIn(await app.refresh(second.refresh, {}, {}, 1));
    expect(await isLive(third.access)).toBe(true);
    expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
    expect([await isLive(second.access), await isLive(third.access)]).toEqual([false, false]);
    expect(refusal(await app.refresh(third.refresh))).toEqual(INVALID_GRANT);
  });

  test('another client cannot use either token', async () => {
    const thief = await App.add(flow);
    const { refresh } = await app.tokens(browser);
    const second = tokensIn(await app.refresh(refresh));
    expect(refusal(await thief.refresh(refresh))).toEqual(INVALID_GRANT);
    expect(refusal(await thief.refresh(second.refresh))).toEqual(INVALID_GRANT);
    expect(tokensIn(await app.refresh(refresh)).refresh).toBe(second.refresh);
  });

  test('after the grace period a second use is reuse', async () => {
    const { refresh } = await app.tokens(browser);
    const second = tokensIn(await app.refresh(refresh));
    const over = Math.floor(Date.now() / 1000) + GRACE + 1;
    await sleep(over * 1000 - Date.now());
    expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
    expect(await isLive(second.access)).toBe(false);
  });

  test('a revocation by the person also applies within the grace period', async () => {
    const { refresh } = await app.tokens(browser);
    const second = tokensIn(await app.refresh(refresh));
    const account = await browser.open('/account/end');
    const id = String(decodeJwt(second.access)['grant_id']);
    await browser.submit(account, { end: 'access', id }, '/account');
    for (const token of [refresh, second.refresh]) {
      expect(refusal(await app.refresh(token))).toEqual(INVALID_GRANT);
    }
    expect(await isLive(second.access)).toBe(false);
  });
});
