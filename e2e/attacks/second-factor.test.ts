import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import type { Changes, Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { Authenticator, optionsIn } from '../../authz-server/integration/authenticator.fixture.ts';
import {
  appFrom,
  codesOn,
  unusedCodesFrom,
} from '../../authz-server/integration/second-factor.fixture.ts';
import { type Flow, startFlow, startFlowOn, STORE_KINDS } from '../flows/flow.ts';
import type { Postgres } from '../parts/postgres.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { somePasskey, somePublicKey } from '#shared/stores/contract/samples.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import {
  alsoAt,
  App,
  asksToSignIn,
  browserAt,
  newPerson,
  sent,
  signedIn,
  signIn,
  tokensIn,
} from '../flows/person.ts';
import type { Person } from '../pair/pair.ts';

const PATH = '/account/second-factor';

const SESSION = /countersign-session=[^;]+/;

/** The distinct sessions of these answers. A browser that repeats a form gets the same session. */
const sessionsIn = (answers: readonly Page[]) =>
  new Set(answers.map(({ headers }) => SESSION.exec(headers.getSetCookie().join())?.[0]));

/** One-time codes, recovery codes and passkeys, at two authorization servers on one store. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    // After a clock jump backwards, buckets would stay empty. These limits refill at once or are never
    // reached.
    const often = { burst: 1000, per: 0.001 };
    const address = { burst: 100_000, per: 1 };
    const limits = { address, account: often, signIn: often, secondFactor: often };
    // Browsers make passkeys for a host name, not for an IP address (WebAuthn section 5.1.3).
    const env = {
      NODE_OPTIONS: `--import ${new URL('../parts/set-clock.js', import.meta.url).href}`,
    };
    const settings = { limits };
    flow = await startFlowOn(kind, { authz: 2, issuerHost: 'localhost', settings, env });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  /** Adds a person who has set up a second factor on the account page. */
  async function protectedPerson() {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const page = await browser.open(PATH);
    const code = unusedCodesFrom(page, { clock: systemClock });
    const used = code();
    const shown = await browser.submit(page, { code: used });
    return { person, browser, code, used, recovery: codesOn(shown) };
  }

  /** A browser with the password step done, at both servers. */
  async function atSecondStep(person: Person) {
    const browser = browserAt(flow);
    const page = await signIn(browser, await browser.open('/account'), person);
    return { page, browsers: [browser, alsoAt(flow, browser, 1)] as const };
  }

  const tenAtOnce = async (
    { page, browsers }: { page: Page; browsers: readonly [TestBrowser, TestBrowser] },
    changes: (n: number) => Changes,
  ) => {
    const answers = Array.from({ length: 10 }, (_, n) =>
      browsers[n % 2 === 0 ? 0 : 1].send(page, changes(n)),
    );
    const entered = (await Promise.all(answers)).filter(({ status }) => status === 303);
    return sessionsIn(entered).size;
  };
  const signInsOf = ({ id }: Person) => {
    const { stores, config } = flow;
    return listSignIns({ stores, clock: systemClock, longestLife: longestLife(config) }, id);
  };

  test('RFC 6238 section 5.2: ten requests at once with one code sign in once', async () => {
    const { person, code } = await protectedPerson();
    const step = await atSecondStep(person);
    const next = code();
    expect(await tenAtOnce(step, () => ({ code: next }))).toBe(1);
    const again = await atSecondStep(person);
    expect(await tenAtOnce(again, () => ({ code: next }))).toBe(0);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten requests at once with one recovery code sign in once', async () => {
    const { person, recovery } = await protectedPerson();
    const step = await atSecondStep(person);
    expect(await tenAtOnce(step, () => ({ recovery: recovery[0] ?? '' }))).toBe(1);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten recovery codes at once for one sign-in use up one code and sign in once', async () => {
    const { person, recovery } = await protectedPerson();
    const step = await atSecondStep(person);
    expect(await tenAtOnce(step, (n) => ({ recovery: recovery[n] ?? '' }))).toBe(1);
    expect(await signInsOf(person)).toHaveLength(2);
    const left = (await flow.stores.secondFactors.get(person.id))?.recovery;
    expect(left).toHaveLength(9);
  });

  test("WebAuthn section 13.4.3: a passkey's answer signs in once, even ten times at once, and never later", async () => {
    const { person, browser, authenticator } = await atPasskey(flow);
    const page = await browser.open('/account');
    const browsers = [browser, alsoAt(flow, browser, 1)] as const;
    const passkey = authenticator.get(optionsIn(page));
    const send = (n: number) =>
      browsers[n % 2 ? 1 : 0].send(page, { passkey, name: '', password: '' });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => send(n)));
    expect(sessionsIn(answers.filter(({ status }) => status === 303)).size).toBe(1);
    const thief = browserAt(flow);
    const form = { passkey, name: '', password: '' };
    expect((await thief.send(await thief.open('/account'), form)).status).toBe(422);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten changes to another authenticator app at once: one replaces the old app', async () => {
    const { person, browser } = await protectedPerson();
    const before = await flow.stores.secondFactors.get(person.id);
    const page = await browser.send(await browser.open(PATH), { change: 'another' });
    const code = appFrom(page, { clock: systemClock })();
    const browsers = [browser, alsoAt(flow, browser, 1)];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (browsers[n % 2] ?? browser).send(page, { code })),
    );
    const shown = answers.map(codesOn).filter(({ length }) => length === 10);
    expect(new Set(shown.map((codes) => codes.join())).size).toBe(1);
    const after = await flow.stores.secondFactors.get(person.id);
    expect(after?.id).not.toBe(before?.id);
    expect(await signInsOf(person)).toHaveLength(1);
  });

  test('ten set-ups at once leave at most one, and its recovery codes are shown at most once', async () => {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const pages = await Promise.all(Array.from({ length: 10 }, () => browser.open(PATH)));
    const browsers = [browser, alsoAt(flow, browser, 1)];
    const answers = await Promise.all(
      pages.map((page, n) =>
        (browsers[n % 2] ?? browser).send(page, { code: appFrom(page, { clock: systemClock })() }),
      ),
    );
    expect(answers.filter((page) => codesOn(page).length === 10).length).toBeLessThanOrEqual(1);
    expect((await signInsOf(person)).length).toBeLessThanOrEqual(1);
  });

  test('the log names the reason of each refusal, and no code', async () => {
    const { person, used, recovery } = await protectedPerson();
    const { page, browsers } = await atSecondStep(person);
    const [browser] = browsers;
    for (const shown of [{ code: used }, { code: '000000' }, { recovery: '00000-00000' }]) {
      expect((await browser.send(page, shown)).status).toBe(422);
    }
    const mine = () => {
      const lines = flow.pair.authz.flatMap(({ log }) => log.split('\n'));
      return lines.filter((line) => line.includes(person.id)).join('\n');
    };
    await eventually(() => {
      for (const reason of ['replayed', 'wrong', 'recovery']) {
        expect(mine()).toContain(`"reason":"second factor: ${reason}"`);
      }
    });
    for (const secret of [used, recovery[0] ?? '?']) expect(mine()).not.toContain(secret);
  });

  test('a set-up removes planted passkeys and keys, if the person chooses', async () => {
    const person = await newPerson(flow);
    const { passkeys, publicKeys } = flow.stores;
    const owner = { kind: 'person', id: person.id } as const;
    await passkeys.add({ ...somePasskey(`of-${person.id}`), accountId: person.id }, 20);
    await publicKeys.add({ ...somePublicKey(`of-${person.id}`), owner }, 20);
    const browser = await signedIn(flow, person);
    const page = await browser.open(PATH);
    const item = [...page.text.matchAll(/name="item" value="([^"]*)"/g)].map(([, one = '']) => one);
    expect(item).toHaveLength(2);
    const code = appFrom(page, { clock: systemClock })();
    expect(codesOn(await browser.send(page, { code, item }))).toHaveLength(10);
    expect(await passkeys.of(person.id)).toEqual([]);
    expect(await publicKeys.of(owner)).toEqual([]);
  });

  test('a set-up revokes earlier sign-ins at both servers', async () => {
    const person = await newPerson(flow);
    const before = await signedIn(flow, person);
    const browser = await signedIn(flow, person, 1);
    const page = await browser.open(PATH);
    await browser.submit(page, { code: appFrom(page, { clock: systemClock })() });
    expect(asksToSignIn(await before.open('/account'))).toBe(true);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
    expect(asksToSignIn(await alsoAt(flow, browser, 0).open('/account'))).toBe(false);
  });

  test('if a clock jumps an hour ahead and back, the second step is over, and no sign-in of that hour is recent', async () => {
    // One machine has one clock, but several machines may have different clocks.
    const jumping = kind === 'postgres' ? [1] : [0, 1];
    const setClock = async (seconds: number) => {
      for (const n of jumping) {
        await writeFile(join(flow.pair.data, `config-${n}.json.clock`), String(seconds));
      }
    };
    const { person, recovery } = await protectedPerson();
    await flow.pair.cli('user', 'set', person.name, '--admin');
    const shown = { recovery: recovery[0] ?? '' };
    const { page, browsers } = await atSecondStep(person);
    const [, browser] = browsers;
    await setClock(3600);
    expect((await browser.submit(page, shown)).text).toContain('Start again');
    expect(await signInsOf(person)).toHaveLength(1);
    const next = await signIn(browser, await browser.open('/account'), person);
    expect(asksToSignIn(await browser.submit(next, shown))).toBe(false);
    expect((await browser.open('/admin')).status).toBe(200);
    await setClock(0);
    for (const server of [0, 1]) {
      const here = alsoAt(flow, browser, server);
      expect((await here.open(PATH)).text).toContain('Sign in once more');
      expect((await here.open('/admin')).text).toContain('again after ten minutes');
    }
    await eventually(async () => {
      const step = await signIn(browser, await browser.open('/admin'), person);
      const admin = await browser.submit(step, { recovery: recovery[1] ?? '' });
      expect(new URL(admin.url).pathname).toBe('/admin');
    });
    expect((await alsoAt(flow, browser, 0).open(PATH)).text).not.toContain('Sign in once more');
  });

  test('a Basic client is admitted by the password before the set-up, and refused after it', async () => {
    const person = await newPerson(flow);
    const credentials = Buffer.from(`${person.name}:${person.password}`).toString('base64');
    const get = async () => {
      const headers = { authorization: `Basic ${credentials}` };
      return (await fetch(`${flow.pair.resource}/schemes/basic/`, { headers })).status;
    };
    expect(await get()).toBe(200);
    const browser = await signedIn(flow, person);
    const page = await browser.open(PATH);
    await browser.submit(page, { code: appFrom(page, { clock: systemClock })() });
    expect(await get()).toBe(401);
    await flow.pair.cli('user', 'second-factor', person.name, '--remove');
    expect(await get()).toBe(200);
  });
});

describe('while PostgreSQL pauses', () => {
  const parts = new AsyncDisposableStack();
  let postgres: Postgres;
  let flow: Flow;
  beforeAll(async () => {
    const shared = parts.use(await startSharedStore({ deadline: 4 }));
    ({ postgres } = shared);
    flow = parts.use(await startFlow({ store: shared.store, issuerHost: 'localhost' }));
  });
  afterAll(() => parts.disposeAsync());

  test('a second step and a passkey sign-in get 503, nothing is half done, and the next attempt works', async () => {
    const { browser: other, authenticator } = await atPasskey(flow);
    const person = await newPerson(flow);
    const setUp = await signedIn(flow, person);
    const begun = await setUp.open(PATH);
    const shown = await setUp.submit(begun, { code: appFrom(begun, { clock: systemClock })() });
    const recovery = codesOn(shown);
    const browser = browserAt(flow);
    const page = await signIn(browser, await browser.open('/account'), person);
    const before = await flow.stores.secondFactors.get(person.id);
    const waiting = await other.open('/account');
    const passkey = authenticator.get(optionsIn(waiting));
    await postgres.hang();
    const refused = await Promise.all([
      browser.send(page, { recovery: recovery[0] ?? '' }),
      other.send(waiting, { passkey }),
    ]);
    await postgres.wake();
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    await eventually(async () =>
      expect(await flow.stores.secondFactors.get(person.id)).toEqual(before),
    );
    expect(asksToSignIn(await browser.open('/account'))).toBe(true);
    const again = await signIn(browser, await browser.open('/account'), person);
    const done = await browser.submit(again, { recovery: recovery[0] ?? '' });
    expect(asksToSignIn(done)).toBe(false);
    const next = await other.open('/account');
    expect(asksToSignIn(next)).toBe(true);
    const letIn = await other.submit(next, { passkey: authenticator.get(optionsIn(next)) });
    expect(asksToSignIn(letIn)).toBe(false);
  });

  test('a sign-in for a client (max_age) gets 503, and the same form works afterwards', async () => {
    const person = await newPerson(flow);
    const app = await App.add(flow);
    const browser = await signedIn(flow, person);
    const before = decodeJwt((await app.tokens(browser)).access)['auth_time'];
    const page = await browser.open(app.url({ max_age: '0' }));
    expect(asksToSignIn(page)).toBe(true);
    const { name, password } = person;
    await postgres.hang();
    const [refused, asked] = await Promise.all([
      browser.send(page, { name, password }),
      browser.open(app.url({ max_age: '0' })),
    ]);
    await postgres.wake();
    expect([refused.status, asked.status]).toEqual([503, 503]);
    const done = await eventually(async () => {
      const answer = await browser.submit(page, { name, password });
      return tokensIn(await app.redeem(sent(answer).get('code') ?? ''));
    });
    expect(decodeJwt(done.access)['auth_time']).toBeGreaterThanOrEqual(Number(before));
    expect(asksToSignIn(await browser.open(app.url({ max_age: '0' })))).toBe(true);
  });
});

/** Adds a person with a passkey, in a new browser. */
async function atPasskey(flow: Flow) {
  const person = await newPerson(flow);
  const home = await signedIn(flow, person);
  const authenticator = new Authenticator(flow.pair.issuer);
  const begun = await home.open('/account/passkeys');
  const passkey = authenticator.create(optionsIn(begun));
  await home.submit(begun, { do: 'added', passkey, name: 'Phone' }, '/account/passkeys');
  return { person, browser: browserAt(flow), authenticator };
}
