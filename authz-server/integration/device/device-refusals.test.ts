import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestBrowser } from '../browser.fixture.ts';
import {
  ALL,
  GENEROUS,
  isConfirm,
  openDeviceFlow,
  pathOf,
  post,
  signIn,
} from './device.fixture.ts';
import type { DeviceAnswer, DeviceFlow } from './device.fixture.ts';

let flow: DeviceFlow;
const pending = async (device: DeviceAnswer) => {
  expect((await flow.poll(device)).body).toMatchObject({ error: 'authorization_pending' });
};

describe('requests at the device page that decide nothing', () => {
  let alice: TestBrowser;

  beforeAll(async () => {
    flow = await openDeviceFlow(GENEROUS);
    alice = await flow.signedIn('alice');
  });
  afterAll(async () => flow[Symbol.asyncDispose]());

  test.each([
    ['with an empty token', { csrf: '' }, {}],
    ['with another token', { csrf: 'x'.repeat(43) }, {}],
    ['from another origin', {}, { origin: 'https://attacker.example' }],
    ['from a sandboxed frame', {}, { origin: 'null' }],
    ['of another media type', {}, { 'content-type': 'text/plain' }],
  ])('a form %s (CSRF)', async (_name, changes, headers) => {
    const device = await flow.askAsDevice(ALL);
    const { forms } = await alice.open(pathOf(device));
    const { fields = [] } = forms.find(({ action }) => action === '/device') ?? {};
    const form = { ...Object.fromEntries(fields), decision: 'allow', ...changes };
    const refused = await alice.request('POST', '/device', new URLSearchParams(form), headers);
    expect([403, 415]).toContain(refused.status);
    await pending(device);
    expect(await flow.grants('alice')).toBe(0);
  });

  test('the unchanged form does decide', async () => {
    const device = await flow.askAsDevice(ALL);
    const { forms } = await alice.open(pathOf(device));
    const { fields = [] } = forms.find(({ action }) => action === '/device') ?? {};
    const form = { ...Object.fromEntries(fields), decision: 'deny' };
    await alice.request('POST', '/device', new URLSearchParams(form));
    expect((await flow.poll(device)).body).toMatchObject({ error: 'access_denied' });
  });

  test('a link', async () => {
    const device = await flow.askAsDevice(ALL);
    await alice.open(`${pathOf(device)}&decision=allow&item=openid`);
    await pending(device);
  });

  test.each([
    ['empty', 'user_code='],
    ['too short', 'user_code=BCDF'],
    ['of other letters', 'user_code=AEIO-UAEI'],
    ['given twice', 'user_code=BCDF-GHJK&user_code=BCDF-GHJK'],
    ['markup', `user_code=${encodeURIComponent('<script>alert(1)</script>')}`],
    ['bytes that are no text', 'user_code=%ff%fe%00%c3'],
    ['broken in its encoding', 'user_code=%'],
    ['oversize', `user_code=${'B'.repeat(6000)}`],
    ['an inherited name', 'user_code=__proto__'],
  ])('a code that is %s', async (_name, query) => {
    const asked = await flow.browser().open(`/device?${query}`);
    const [form] = asked.forms;
    expect([asked.status, form?.action]).toEqual([200, '/sign-in']);
    expect(form?.fields).toContainEqual(['continue', '/device']);
    const page = await alice.open(`/device?${query}`);
    expect(page.status).toBe(422);
    expect(page.text).not.toContain('<script>');
    const user_code = new URLSearchParams(query).getAll('user_code');
    expect((await post(alice, { user_code, decision: 'allow' })).status).toBe(400);
  });

  test('a form of more than 16 KiB', async () => {
    const item = Array.from({ length: 2000 }, () => 'documents:read');
    const form = { user_code: 'BCDF-GHJK', decision: 'allow', item };
    expect((await post(alice, form)).status).toBe(413);
  });
});

describe('guesses at the device page (RFC 8628 section 5.1)', () => {
  afterEach(async () => flow[Symbol.asyncDispose]());

  const guess = (browser: TestBrowser, code = 'BCDF-GHJK') =>
    browser.request('GET', `/device?user_code=${code}`);

  test('before sign-in no code is looked up, and no limit is used', async () => {
    flow = await openDeviceFlow({ limits: { userCode: { burst: 1, per: 3600 } } });
    const device = await flow.askAsDevice(ALL);
    const browser = flow.browser();
    const pages = await Promise.all(
      [device.user_code, 'BCDF-GHJK', device.user_code, 'XXXX-XXXX'].map((code) =>
        guess(flow.browser(), code),
      ),
    );
    const masked = pages.map(({ text }) =>
      text
        .replaceAll(/[A-Z]{4}-[A-Z]{4}/g, 'CODE')
        .replaceAll(/name="csrf" value="[^"]*"/g, 'csrf')
        .replaceAll(/&quot;challenge&quot;:&quot;[\w-]{72}&quot;/g, 'challenge'),
    );
    expect(new Set(masked).size).toBe(1);
    const confirm = await signIn(browser, await browser.open(pathOf(device)), 'alice');
    expect(isConfirm(confirm)).toBe(true);
  });

  test('ten guesses at the same time: only as many as the limit are looked up, and then the right code is refused, too', async () => {
    flow = await openDeviceFlow({ limits: { userCode: { burst: 4, per: 3600 } } });
    const device = await flow.askAsDevice(ALL);
    const browser = await flow.signedIn('alice');
    const pages = await Promise.all(Array.from({ length: 10 }, () => guess(browser)));
    expect(pages.filter(({ status }) => status === 422)).toHaveLength(4);
    const refused = pages.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(6);
    expect(refused[0]?.headers.get('retry-after')).toBe('3600');
    expect((await guess(browser, device.user_code)).status).toBe(429);
    const form = { user_code: device.user_code, decision: 'allow' };
    expect((await post(browser, form)).status).toBe(429);
    await pending(device);

    const other = await flow.signedIn('bob');
    expect(isConfirm(await other.open(pathOf(device)))).toBe(true);
  });

  test('a posted form counts as a guess', async () => {
    flow = await openDeviceFlow({ limits: { userCode: { burst: 3, per: 3600 } } });
    const browser = await flow.signedIn('alice');
    const statuses = [];
    for (let at = 0; at < 4; at += 1) {
      const form = { user_code: 'BCDF-GHJK', decision: 'deny' };
      statuses.push((await post(browser, form)).status);
    }
    expect(statuses).toEqual([410, 410, 410, 429]);
  });

  test('repeated forms, in turn or at the same time, do not count as guesses', async () => {
    flow = await openDeviceFlow({ limits: { userCode: { burst: 7, per: 3600 } } });
    const browser = await flow.signedIn('alice');
    const decide = async () => {
      const { user_code } = await flow.askAsDevice(ALL);
      return { user_code, decision: 'deny' };
    };
    const [one, other] = [await decide(), await decide()];
    for (let at = 0; at < 10; at += 1) expect((await post(browser, one)).status).toBe(200);
    const sent = await Promise.all(Array.from({ length: 5 }, () => post(browser, other)));
    expect(sent.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const statuses = [];
    for (let at = 0; at < 6; at += 1) statuses.push((await guess(browser)).status);
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
  });

  test('guesses that use up the limit of an address do not block a right code from there', async () => {
    flow = await openDeviceFlow({ limits: { userCode: { burst: 1, per: 3600 } } });
    const device = await flow.askAsDevice(ALL);
    const { limits } = flow.authz.stores;
    const address = { burst: 10, per: 3600 };
    for (let at = 0; at < 10; at += 1)
      await limits.spend('user-code-address', '127.0.0.1', address);
    const browser = await flow.signedIn('bob');
    expect(isConfirm(await browser.open(pathOf(device)))).toBe(true);
  });
});
