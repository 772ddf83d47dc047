import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { allStarted, until } from '../parts/process.ts';
import { type Flow, startFlowOn, STORE_KINDS, type StoreKind } from './flow.ts';
import {
  accesses,
  addDevice,
  alsoAt,
  asksToSignIn,
  browserAt,
  INVALID_GRANT,
  newPerson,
} from './person.ts';
import { post, refusal, signedIn, signIn, tenTimes, tokensIn } from './person.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const INTERVAL = 5;
/** The number of code look-ups per person. */
const GUESSES = 20;
const UNKNOWN = 'BCDF-GHJK';

interface Asked {
  readonly device_code: string;
  readonly user_code: string;
}

/** The pair on one store, and a device client. */
interface Place {
  readonly flow: Flow;
  readonly client: string;
  /** A device code requested before all other tests, so that it expires during these tests. */
  readonly old: { readonly device: Asked; readonly person: Person; readonly browser: TestBrowser };
}

const places = new Map<StoreKind, Place>();
const parts = new AsyncDisposableStack();

function placeOn(kind: StoreKind): Place {
  const place = places.get(kind);
  if (place === undefined) throw new Error(`nothing was started on ${kind}`);
  return place;
}

async function start(kind: StoreKind): Promise<void> {
  const device = { interval: INTERVAL, lifetime: 30 };
  const limits = { userCode: { burst: GUESSES, per: 3600 } };
  const flow = parts.use(await startFlowOn(kind, { authz: 2, settings: { device, limits } }));
  const client = await addDevice(flow);
  const person = await newPerson(flow);
  const browser = await signedIn(flow, person);
  places.set(kind, { flow, client, old: { device: await askAt(flow, client), person, browser } });
}

beforeAll(() => allStarted(STORE_KINDS.map(start)));
afterAll(() => parts.disposeAsync());

/** The device authorization request (section 3.1). */
async function askAt(flow: Flow, client: string): Promise<Asked> {
  const form = { client_id: client, scope: 'documents:read' };
  const answer = await post(flow, '/device/auth', form, { 'user-agent': 'TV/1.0' });
  expect(answer.status).toBe(200);
  const { device_code, user_code } = answer.body;
  return { ...answer.body, device_code: String(device_code), user_code: String(user_code) };
}

/** The device token request (section 3.4). */
function pollAt(flow: Flow, client_id: string, { device_code }: Asked, server = 0) {
  const form = { grant_type: DEVICE_CODE, client_id, device_code };
  return post(flow, '/token', form, {}, server);
}

const decide = (one: TestBrowser, page: Page, decision: 'allow' | 'deny') =>
  one.submit(page, { decision }, '/device');

const isConfirm = ({ forms }: Page) =>
  forms.some(({ fields }) => fields.some(([name]) => name === 'user_code')) &&
  forms.some(({ method, action }) => method === 'post' && action === '/device');

const open = (one: TestBrowser, { user_code }: Asked) => one.open(`/device?user_code=${user_code}`);

describe.each(STORE_KINDS)('on %s: a device (RFC 8628)', (kind) => {
  let flow: Flow;
  let client: string;
  let person: Person;
  let browser: TestBrowser;

  beforeAll(() => {
    ({ flow, client } = placeOn(kind));
  });
  beforeEach(async () => {
    person = await newPerson(flow);
    browser = await signedIn(flow, person);
  });

  const ask = () => askAt(flow, client);
  const poll = (device: Asked, server = 0, id = client) => pollAt(flow, id, device, server);

  function refresh(token: string) {
    const form = { grant_type: 'refresh_token', client_id: client, refresh_token: token };
    return post(flow, '/token', form);
  }

  const isLive = async (token: string) => (await flow.pair.get(token)) === 200;

  test('section 3: the person opens the link, signs in, sees the request and approves it, and the device gets tokens once', async () => {
    const { pair } = flow;
    const device = await ask();
    expect(device).toMatchObject({
      verification_uri: `${pair.issuer}/device`,
      verification_uri_complete: `${pair.issuer}/device?user_code=${device.user_code}`,
      expires_in: 30,
      interval: INTERVAL,
    });
    const anybody = browserAt(flow, 1);
    const first = await open(anybody, device);
    expect(asksToSignIn(first)).toBe(true);
    const confirm = await signIn(anybody, first, person);
    for (const said of ['Test app', device.user_code, '127.0.0.1', 'TV/1.0']) {
      expect(confirm.text).toContain(said);
    }
    expect(refusal(await poll(device))).toEqual([400, 'authorization_pending']);
    expect((await decide(anybody, confirm, 'allow')).status).toBe(200);
    const { access, refresh: token } = tokensIn(await poll(device, 1));
    expect(decodeJwt(access)).toMatchObject({ sub: person.id, scope: 'documents:read' });
    expect(await isLive(access)).toBe(true);
    expect(refusal(await poll(device))).toEqual(INVALID_GRANT);
    expect(await isLive(access)).toBe(true);
    expect(await isLive(tokensIn(await refresh(token)).access)).toBe(true);
  });

  test('section 3.5: the first poll is answered, and more polls within the interval get slow_down', async () => {
    const device = await ask();
    const errors = (await tenTimes((server) => poll(device, server))).map(({ body }) => body);
    const told = (error: string) => errors.filter((body) => body['error'] === error);
    expect(told('authorization_pending')).toHaveLength(1);
    expect(told('slow_down')).toHaveLength(9);
    await until(async () => (await poll(device)).body['error'] === 'authorization_pending');
    expect(refusal(await poll(device, 1))).toEqual([400, 'slow_down']);

    await decide(browser, await open(browser, device), 'allow');
    expect((await poll(device)).status).toBe(200);
  });

  test('section 3.5: after a denial every poll gets access_denied', async () => {
    const device = await ask();
    expect((await decide(browser, await open(browser, device), 'deny')).status).toBe(200);
    for (const server of [0, 1, 0]) {
      expect(refusal(await poll(device, server))).toEqual([400, 'access_denied']);
    }
    expect(await accesses(flow, person)).toEqual([]);
  });

  test('section 3.4: a code belongs to the client that requested it', async () => {
    const device = await ask();
    await decide(browser, await open(browser, device), 'allow');
    const thief = await addDevice(flow);
    expect(refusal(await poll(device, 0, thief))).toEqual(INVALID_GRANT);
    expect((await poll(device)).status).toBe(200);
  });

  test('ten polls of an approved code at once: one gets tokens', async () => {
    const device = await ask();
    await decide(browser, await open(browser, device), 'allow');
    const answers = await tenTimes((server) => poll(device, server));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200).map(refusal);
    expect(refused).toEqual(refused.map(() => INVALID_GRANT));
    expect(await accesses(flow, person)).toHaveLength(1);
  });

  test('two devices of one client: revoking one on the account page leaves the other', async () => {
    const tokens = [];
    for (const device of [await ask(), await ask()]) {
      await decide(browser, await open(browser, device), 'allow');
      tokens.push(tokensIn(await poll(device)));
    }
    const [ended, left] = tokens;
    const id = String(decodeJwt(ended?.access ?? '')['grant_id']);
    expect((await browser.open('/account')).text).toContain(id);
    await browser.submit(await browser.open(`/account/end?end=access&id=${id}`));
    expect([await isLive(ended?.access ?? ''), await isLive(left?.access ?? '')]).toEqual([
      false,
      true,
    ]);
    expect(refusal(await refresh(ended?.refresh ?? ''))).toEqual(INVALID_GRANT);
    expect((await refresh(left?.refresh ?? '')).status).toBe(200);
    expect(await accesses(flow, person)).toHaveLength(1);
  });

  test("a device's access survives the browser's sign-out, but not a revocation of everything", async () => {
    const device = await ask();
    await decide(browser, await open(browser, device), 'allow');
    const { access } = tokensIn(await poll(device));
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    expect(await isLive(access)).toBe(true);
    const again = await signedIn(flow, person);
    await again.submit(await again.open('/account/end'), { end: 'everything' }, '/account');
    expect(await isLive(access)).toBe(false);
  });

  test('ten approvals and denials at once: exactly one is done, and the others leave no grant', async () => {
    const other = await newPerson(flow);
    const people = [person, other];
    const at = [0, 1].map((server) => people.map((one) => signedIn(flow, one, server)));
    const browsers = await Promise.all(at.map((all) => Promise.all(all)));
    for (const decisions of [['allow'], ['allow', 'allow', 'deny']] as const) {
      const device = await ask();
      const pages = await Promise.all(
        browsers.map((all) => Promise.all(all.map((one) => open(one, device)))),
      );
      const before = await Promise.all(people.map((one) => accesses(flow, one)));
      const known = new Set(before.flat().map(({ grantId }) => grantId));
      const ends = await tenTimes(async (server, turn) => {
        const who = turn < 5 ? 0 : 1;
        const [one, page] = [browsers[server]?.[who], pages[server]?.[who]];
        if (one === undefined || page === undefined) throw new Error('there are two for each');
        return decide(one, page, decisions[turn % decisions.length] ?? 'deny');
      });
      const after = await Promise.all(people.map((one) => accesses(flow, one)));
      const given = after.flat().filter(({ grantId }) => !known.has(grantId));
      const answer = await poll(device);
      if (decisions.length === 1) expect(answer.status).toBe(200);
      if (answer.status === 200) {
        const { sub, grant_id } = decodeJwt(tokensIn(answer).access);
        expect(given).toMatchObject([{ accountId: sub, grantId: grant_id }]);
      } else {
        expect(refusal(answer)).toEqual([400, 'access_denied']);
        expect(given).toEqual([]);
      }
      // All forms of the losing person are too late. The winner's pages all show the decision.
      expect(ends.filter(({ status }) => status === 410)).toHaveLength(5);
      expect(new Set(ends.map(({ status }) => status))).toEqual(new Set([200, 410]));
      const decided = ends.filter(({ status }) => status === 200);
      expect(new Set(decided.map(({ text }) => text.replaceAll(/value="[^"]*"/g, ''))).size).toBe(
        1,
      );
    }
  });

  test('section 5.1: a code is looked up only after sign-in', async () => {
    const device = await ask();
    const pages = await Promise.all(
      [device.user_code, UNKNOWN].map((code) => browserAt(flow).open(`/device?user_code=${code}`)),
    );
    const [right, wrong] = pages.map(({ status, text }) => ({
      status,
      text: text.replaceAll(/name="csrf" value="[^"]*"/g, '').replaceAll(device.user_code, UNKNOWN),
    }));
    expect(right).toEqual(wrong);
    expect(right?.text).not.toContain('Test app');
    const form = new URLSearchParams({ user_code: device.user_code, decision: 'allow' });
    const forged = await browserAt(flow).request('POST', '/device', form);
    expect(forged.status).toBe(403);
    expect(refusal(await poll(device))).toEqual([400, 'authorization_pending']);
  });

  test('section 5.1: a person who guesses codes is limited at every process, and another person is not', async () => {
    const device = await ask();
    const also = alsoAt(flow, browser, 1);
    const tries = await Promise.all(
      Array.from({ length: GUESSES + 4 }, (_, turn) =>
        (turn % 2 === 0 ? browser : also).request('GET', `/device?user_code=${UNKNOWN}`),
      ),
    );
    const statuses = tries.map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(GUESSES);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    expect(tries.find(({ status }) => status === 429)?.headers.has('retry-after')).toBe(true);
    const late = await open(browser, device);
    expect([late.status, isConfirm(late)]).toEqual([429, false]);

    const honest = await signedIn(flow, await newPerson(flow));
    const confirm = await open(honest, device);
    expect([confirm.status, isConfirm(confirm)]).toEqual([200, true]);
    await decide(honest, confirm, 'allow');
    expect((await poll(device)).status).toBe(200);
  });

  test('leaving the page, an invalid form, or a revocation before the decision leaves the code open', async () => {
    const device = await ask();
    const confirm = await open(browser, device);
    await browser.open('/account');
    expect((await browser.submit(confirm, { decision: 'perhaps' }, '/device')).status).toBe(400);
    await flow.pair.cli('user', 'end', person.name);
    const asked = await decide(browser, confirm, 'allow');
    expect(asksToSignIn(asked)).toBe(true);
    expect(refusal(await poll(device))).toEqual([400, 'authorization_pending']);
    expect(await accesses(flow, person)).toEqual([]);
    await decide(browser, await signIn(browser, asked, person), 'allow');
    expect((await poll(device)).status).toBe(200);
  });
});

describe.each(STORE_KINDS)('on %s: time that passes', (kind) => {
  test('section 3.5: an expired code gets expired_token, and cannot be approved', async () => {
    const { flow, client, old } = placeOn(kind);
    const { device, person, browser } = old;
    const poll = () => pollAt(flow, client, device);
    await until(async () => (await poll()).body['error'] === 'expired_token');
    const late = await open(browser, device);
    expect([late.status, isConfirm(late)]).toEqual([422, false]);
    const another = await open(browser, await askAt(flow, client));
    const form = { decision: 'allow', user_code: device.user_code };
    expect((await browser.submit(another, form, '/device')).status).toBe(410);
    expect(refusal(await poll())).toEqual([400, 'expired_token']);
    expect(await accesses(flow, person)).toEqual([]);
  });
});
