import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
import { type Flow, redisStore, startFlow, startFlowOn, STORE_KINDS } from '../flows/flow.ts';
import { startRedis } from '../parts/redis.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { somePasskey, somePublicKey } from '#shared/stores/contract/samples.ts';
import { alsoAt, asksToSignIn, browserAt, newPerson, signedIn, signIn } from '../flows/person.ts';
import type { Person } from '../pair/pair.ts';

const PATH = '/account/second-factor';

/** One-time codes, recovery codes and passkeys, at two authorization servers on one store. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    const often = { burst: 1000, per: 1 };
    const limits = { address: often, account: often, signIn: often, secondFactor: often };
    // Browsers make passkeys for a name, not for an address (WebAuthn section 5.1.3).
    flow = await startFlowOn(kind, { authz: 2, issuerHost: 'localhost', settings: { limits } });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  /** Somebody who has set a second factor up on the account page. */
  async function protectedPerson() {
    const person = await newPerson(flow);
    const browser = await signedIn(flow, person);
    const page = await browser.open(PATH);
    const code = unusedCodesFrom(page, { clock: systemClock });
    const used = code();
    const shown = await browser.submit(page, { code: used });
    return { person, browser, code, used, recovery: codesOn(shown) };
  }

  /** A browser whose person has given the password, at both servers. */
  async function atSecondStep(person: Person) {
    const browser = browserAt(flow);
    const page = await signIn(browser, await browser.open('/account'), person);
    return { page, browsers: [browser, alsoAt(flow, browser, 1)] as const };
  }

  const tenAtOnce = async (
    { page, browsers }: { page: Page; browsers: readonly [TestBrowser, TestBrowser] },
    changes: (n: number) => Changes,
  ) => {
    const sent = Array.from({ length: 10 }, (_, n) =>
      browsers[n % 2 === 0 ? 0 : 1].send(page, changes(n)),
    );
    return (await Promise.all(sent)).filter(({ status }) => status === 303).length;
  };
  const signInsOf = ({ id }: Person) => {
    const { stores, config } = flow;
    return listSignIns({ stores, clock: systemClock, longestLife: longestLife(config) }, id);
  };

  test('RFC 6238 section 5.2: ten at once with one code sign in once', async () => {
    const { person, code } = await protectedPerson();
    const step = await atSecondStep(person);
    const next = code();
    expect(await tenAtOnce(step, () => ({ code: next }))).toBe(1);
    const again = await atSecondStep(person);
    expect(await tenAtOnce(again, () => ({ code: next }))).toBe(0);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten at once with one recovery code sign in once', async () => {
    const { person, recovery } = await protectedPerson();
    const step = await atSecondStep(person);
    expect(await tenAtOnce(step, () => ({ recovery: recovery[0] ?? '' }))).toBe(1);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten recovery codes at once for one step sign in once', async () => {
    const { person, recovery } = await protectedPerson();
    const step = await atSecondStep(person);
    expect(await tenAtOnce(step, (n) => ({ recovery: recovery[n] ?? '' }))).toBe(1);
    expect(await signInsOf(person)).toHaveLength(2);
    const left = (await flow.stores.secondFactors.get(person.id))?.recovery;
    expect(left).toHaveLength(9);
  });

  test('WebAuthn section 13.4.3: ten at once with one answer of a passkey sign in once, and none later', async () => {
    const { person, browser, authenticator } = await atPasskey(flow);
    const page = await browser.open('/account');
    const browsers = [browser, alsoAt(flow, browser, 1)] as const;
    const passkey = authenticator.get(optionsIn(page));
    const send = (n: number) =>
      browsers[n % 2 ? 1 : 0].send(page, { passkey, name: '', password: '' });
    const statuses = async (count: number) =>
      (await Promise.all(Array.from({ length: count }, (_, n) => send(n)))).map(
        ({ status }) => status,
      );
    const first = await statuses(10);
    expect(first.toSorted((a, b) => a - b)).toEqual([303, ...Array.from({ length: 9 }, () => 422)]);
    expect(await statuses(2)).toEqual([422, 422]);
    expect(await signInsOf(person)).toHaveLength(2);
  });

  test('ten changes to another app at once: one takes the place, and the person always has one', async () => {
    const { person, browser } = await protectedPerson();
    const before = await flow.stores.secondFactors.get(person.id);
    const page = await browser.send(await browser.open(PATH), { change: 'another' });
    const code = appFrom(page, { clock: systemClock })();
    const browsers = [browser, alsoAt(flow, browser, 1)];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (browsers[n % 2] ?? browser).send(page, { code })),
    );
    expect(answers.filter((one) => codesOn(one).length === 10)).toHaveLength(1);
    const after = await flow.stores.secondFactors.get(person.id);
    expect(after?.id).not.toBe(before?.id);
    expect(await signInsOf(person)).toHaveLength(1);
  });

  test('ten set-ups at once leave one, and its codes are shown once', async () => {
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

  test('the log has the reason of each refusal, and no code', async () => {
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

  test('a planted passkey and key do not outlive the set-up', async () => {
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

  test('earlier sign-ins have ended at both servers', async () => {
    const person = await newPerson(flow);
    const before = await signedIn(flow, person);
    const browser = await signedIn(flow, person, 1);
    const page = await browser.open(PATH);
    await browser.submit(page, { code: appFrom(page, { clock: systemClock })() });
    expect(asksToSignIn(await before.open('/account'))).toBe(true);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
    expect(asksToSignIn(await alsoAt(flow, browser, 0).open('/account'))).toBe(false);
  });

  test('a drive with Basic lets the password in before, and not after', async () => {
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

test('a Redis that pauses in the second step, and when a passkey comes: 503, nothing is half done, and the next attempt works', async () => {
  await using own = new AsyncDisposableStack();
  const redis = own.use(await startRedis({ appendonly: true }));
  const store = redisStore([redis.url], { deadline: 2 });
  const flow = own.use(await startFlow({ store, issuerHost: 'localhost' }));
  const { browser: other, authenticator } = await atPasskey(flow);
  const person = await newPerson(flow);
  const setUp = await signedIn(flow, person);
  const begun = await setUp.open(PATH);
  const shown = await setUp.submit(begun, { code: appFrom(begun, { clock: systemClock })() });
  const recovery = codesOn(shown);
  const browser = browserAt(flow);
  const page = await signIn(browser, await browser.open('/account'), person);
  const before = await flow.stores.secondFactors.get(person.id);
  const sent = await other.open('/account');
  const passkey = authenticator.get(optionsIn(sent));
  redis.hang();
  const refused = await Promise.all([
    browser.send(page, { recovery: recovery[0] ?? '' }),
    other.send(sent, { passkey }),
  ]);
  redis.wake();
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

/** Somebody with a passkey, and another browser of theirs. */
async function atPasskey(flow: Flow) {
  const person = await newPerson(flow);
  const home = await signedIn(flow, person);
  const authenticator = new Authenticator(flow.pair.issuer);
  const begun = await home.open('/account/passkeys');
  const passkey = authenticator.create(optionsIn(begun));
  await home.submit(begun, { do: 'added', passkey, name: 'Phone' }, '/account/passkeys');
  return { person, browser: browserAt(flow), authenticator };
}
