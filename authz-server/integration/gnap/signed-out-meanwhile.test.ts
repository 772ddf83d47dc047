import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { TestBrowser } from '../browser.fixture.ts';
import { type GnapFlow, openGnap, READ, REDIRECT } from './gnap.fixture.ts';

/** Sends forms of pages that were opened before the person signed out in another tab of the same browser. */
let gnap: GnapFlow;
let interaction: string;
beforeAll(async () => {
  gnap = await openGnap({ mail: { host: 'mail.invalid', from: 'accounts@example.com' } });
  interaction = (await gnap.ask({ ...READ, interact: REDIRECT })).body.interact.redirect;
});
afterAll(async () => gnap[Symbol.asyncDispose]());

/** Returns a browser that has just been signed out. `lost`: the browser has lost the answer that signed it out. */
async function signedOut(lost = false) {
  const browser = await gnap.flow.signedIn('alice');
  const before = gnap.flow.browser();
  before.plant(browser);
  const asked = await browser.open('/sign-out');
  const csrf = asked.forms.map(({ fields }) => new Map(fields).get('csrf')).find(Boolean) ?? '';
  await browser.submit(asked, { logout: 'yes' }, '/sign-out');
  return { browser: lost ? before : browser, csrf };
}

const FORMS: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
  ['/account/password', { current: 'x', password: 'another horse, another battery' }],
  ['/account/second-factor', { change: 'renew' }],
  ['/account/passkeys', { do: 'removed', id: 'x' }],
  ['/account/key', { origin: 'https://app.example' }],
  ['/account/address', { address: 'alice@example.com' }],
  ['/account/address/AAAAAAAAAAAAAAAAAAAAAA', {}],
  ['/device', { user_code: 'BCDF-GHJK', decision: 'allow' }],
  ['interaction', { decision: 'allow' }],
];

async function send(browser: TestBrowser, path: string, fields: Readonly<Record<string, string>>) {
  const to = path === 'interaction' ? new URL(interaction).pathname : path;
  return browser.request('POST', to, new URLSearchParams(fields));
}

test.each(FORMS)('POST %s says that no change was made', async (path, fields) => {
  const { browser, csrf } = await signedOut();
  const page = await send(browser, path, { ...fields, csrf });
  expect([page.status, page.forms.map(({ action }) => action)]).toEqual([200, ['/sign-in']]);
  expect(page.text).toContain('Nothing was changed: you are no longer signed in here.');
  browser.fields = { ...browser.fields, 'accept-language': 'de' };
  expect((await send(browser, path, { ...fields, csrf })).text).toContain('nichts geändert');
});

/** Counts how often the server looks for the answer to an equal form. */
async function looks(act: () => Promise<unknown>): Promise<number> {
  const { artefacts } = gnap.flow.authz.stores;
  const get = jest.spyOn(artefacts, 'get');
  try {
    await act();
    return get.mock.calls.filter(([kind]) => kind === 'FormAnswer').length;
  } finally {
    get.mockRestore();
  }
}

test.each<(typeof FORMS)[0]>([
  ...FORMS.slice(0, 2),
  ['/gnap/interact/AAAAAAAAAAAAAAAAAAAAAA', { decision: 'allow' }],
])(
  'POST %s without a session waits for no answer, since no person was signed in',
  async (path, fields) => {
    const { browser, csrf } = await signedOut();
    expect(await looks(() => send(browser, path, { ...fields, csrf }))).toBe(1);
  },
);

test.each([
  ['/account/password', true],
  ['/recover/AAAAAAAAAAAAAAAAAAAAAA', false],
])(
  'POST %s waits for the answer to the first form, which may have ended the sign-in or used the link',
  async (path, lost) => {
    const { browser, csrf } = await signedOut(lost);
    expect(await looks(() => send(browser, path, { password: 'x', csrf }))).toBe(6);
  },
);
