import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, newPerson } from '../parts/browser.ts';
import { atPair, examples } from '../pair/examples.ts';
import { decide, signIn } from './browser.fixture.ts';
import { type Flow, ONE_STORE, startFlowOn } from './flow.ts';

const APPLICATION = 'http://localhost:8080/';
const VERIFIER = 'a'.repeat(43);

/**
 * The page's script: it redeems the code, and requests the documents as Bearer, which works, and as DPoP,
 * which fails.
 */
const SCRIPT = `async ({ issuer, documents, verifier, redirectUri }) => {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: 'demo-browser',
    code: new URL(location.href).searchParams.get('code'),
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const { access_token } = await (await fetch(issuer + '/token', { method: 'POST', body })).json();
  const ask = async (headers) => {
    const { status, headers: fields } = await fetch(documents, { headers });
    return { status, challenge: fields.get('WWW-Authenticate') };
  };
  return [
    await ask({ Authorization: 'Bearer ' + access_token }),
    await ask({ Authorization: 'DPoP ' + access_token, DPoP: 'none' }),
  ];
}`;

describe.each(ONE_STORE)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let flow: Flow;
  let page: Page;
  beforeAll(async () => {
    flow = parts.use(await startFlowOn(kind));
    const [html = ''] = await examples('docs/how-to/single-page-application.md', 'html spa');
    const server = http.createServer(({ url }, response) => {
      const application = url === '/' || url?.startsWith('/?code=');
      response
        .setHeader('Content-Type', 'text/html')
        .end(application ? atPair(flow.pair, html) : '');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    parts.defer(() => server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    // Maps the registered port to the port of this test, whatever else listens there.
    const rule = `MAP localhost:8080 127.0.0.1:${port}`;
    const browser = await launchBrowser({ args: [`--host-resolver-rules=${rule}`] });
    parts.defer(() => browser.close());
    page = await (await newPerson(browser)).newPage();
  });
  afterAll(() => parts.disposeAsync());

  test('Fetch section 3.2: a page of the demo client reads the demo documents, and reads the reason of a refusal', async () => {
    const { issuer, documents } = flow.pair;
    const query = new URLSearchParams({
      client_id: 'demo-browser',
      response_type: 'code',
      redirect_uri: APPLICATION,
      scope: 'documents:read',
      resource: documents,
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    });
    await page.goto(`${issuer}/auth?${query.toString()}`);
    await signIn(page, await flow.pair.addPerson());
    await decide(page, 'Allow');
    await page.waitForURL(({ href }) => href.startsWith(APPLICATION));
    const given = { issuer, documents, verifier: VERIFIER, redirectUri: APPLICATION };
    expect(await page.evaluate(`(${SCRIPT})(${JSON.stringify(given)})`)).toEqual([
      { status: 200, challenge: null },
      { status: 401, challenge: expect.stringContaining('DPoP') },
    ]);
  });

  test('docs/how-to/single-page-application.md: its page signs in, reads the documents, and signs out', async () => {
    const own = await (await newPerson(page.context().browser() as Browser)).newPage();
    await own.goto(APPLICATION);
    await own.getByRole('button', { name: 'Sign in' }).click();
    await signIn(own, await flow.pair.addPerson('spa'));
    await decide(own, 'Allow');
    await own.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(JSON.parse(await own.locator('pre').innerText())).toEqual({ members: [] });
    expect(new URL(own.url()).search).toBe('');
    await own.getByRole('button', { name: 'Sign out' }).click();
    await own.waitForURL(({ href }) => href.startsWith(flow.pair.issuer));
    await own.getByRole('heading', { name: 'Sign out' }).waitFor();
  });
});
