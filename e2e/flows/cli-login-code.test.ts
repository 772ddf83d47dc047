/** `login URL --client DOCUMENT`: the command line as an unregistered client. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { type McpSite, startMcpSite } from '../interop/mcp/mcp-site.ts';
import { runCommand } from '../pair/command-line.ts';
import type { Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const parts = new AsyncDisposableStack();
let site: McpSite;
let person: Person;
let home: string;
let clientId: string;

beforeAll(async () => {
  site = parts.use(await startMcpSite());
});
afterAll(async () => parts.disposeAsync());
beforeEach(async () => {
  person = await site.pair.addPerson(`person-${randomUUID()}`);
  home = parts.use(await temporaryFolder()).path;
  clientId = site.describeClient(`cli-${randomUUID()}`);
});

const run = (...args: readonly string[]) => runCommand(args, { ...site.pair.env, HOME: home });
const login = (...args: readonly string[]) =>
  run('login', site.pair.documents, '--client', clientId, ...args);
const kept = () => readFile(join(home, '.config/countersign/login.json'), 'utf8');

/** Begins a login; `at` is the redirect URI, with the parameters that an answer must repeat. */
async function begun(...args: readonly string[]) {
  let said = '';
  const around = { hear: (text: string) => (said += text) };
  const words = ['login', site.pair.documents, '--client', clientId, ...args];
  const ending = runCommand(words, { ...site.pair.env, HOME: home }, around);
  await until(() => said.includes('Waiting for'));
  const link = new URL(/^Open {3}(.+)$/m.exec(said)?.[1] ?? '');
  const at = new URL(link.searchParams.get('redirect_uri') ?? '');
  /** Sends an answer as a browser would; resolves to its status. */
  const answer = async (parameters: Readonly<Record<string, string>>) => {
    const url = new URL(at);
    url.search = new URLSearchParams(parameters).toString();
    return (await fetch(url)).status;
  };
  return { ending, link, at, answer, state: link.searchParams.get('state') ?? '' };
}

/** Signs in, decides, and follows the server's redirects. */
async function decide(link: URL, decision: 'allow' | 'deny') {
  const { issuer } = site.pair;
  const browser = new TestBrowser(issuer, issuer);
  const { name, password } = person;
  const asked = await browser.submit(await browser.open(link.href), { name, password });
  const decided = await browser.submit(asked, { decision });
  const back = await fetch(decided.headers.get('location') ?? '');
  return { page: asked.text, back };
}

describe('a login with a bare URL', () => {
  test('RFC 8252, RFC 7636, RFC 9207: the command prints a link, and the answer completes the login', async () => {
    const { ending, link, at } = await begun();
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      client_id: clientId,
      resource: site.pair.documents,
      code_challenge_method: 'S256',
      dpop_jkt: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(at).toMatchObject({ hostname: '127.0.0.1', pathname: '/callback' });
    const { page, back } = await decide(link, 'allow');
    expect(page).toContain(`Allow access to ${new URL(clientId).host}?`);
    expect(back.headers.get('cache-control')).toBe('no-store');
    expect(await back.text()).toContain('You can close this page');
    const { code, stdout, stderr } = await ending;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Logged in at')]);
    // A bare URL does not show that GET is allowed.
    expect(stdout).not.toContain('request');
    expect(JSON.parse(await kept())).toMatchObject({
      client_id: clientId,
      resource: site.pair.documents,
      scope: expect.stringContaining('documents:read'),
    });
    expect(stdout + stderr).not.toContain(JSON.parse(await kept()).access_token);
    expect(await run('request', 'GET', site.pair.documents)).toMatchObject({ code: 0 });
    await expect(fetch(at)).rejects.toThrow();
  });

  test('the code is bound to the key (RFC 9449 section 10) and to the verifier', async () => {
    const { ending, link } = await begun();
    const challenge = link.searchParams.get('code_challenge') ?? '';
    await decide(link, 'allow');
    await ending;
    const { private_jwk: jwk } = JSON.parse(await kept()) as {
      private_jwk: Readonly<Record<string, string>>;
    };
    const members = JSON.stringify({ crv: jwk['crv'], kty: jwk['kty'], x: jwk['x'], y: jwk['y'] });
    const thumbprint = createHash('sha256').update(members).digest('base64url');
    expect(link.searchParams.get('dpop_jkt')).toBe(thumbprint);
    expect(challenge).toMatch(/^[\w-]{43}$/);
  });

  test('a denial on the page gives no login', async () => {
    const { ending, link } = await begun();
    await decide(link, 'deny');
    const { code, stderr } = await ending;
    expect([code, stderr]).toEqual([1, expect.stringContaining('The request was denied.')]);
    await expect(kept()).rejects.toThrow('ENOENT');
  });
});

describe('a false answer', () => {
  test('RFC 9700 section 4.7: without its state is ignored, and the login continues', async () => {
    const { ending, link, at, answer, state } = await begun();
    const iss = site.pair.issuer;
    expect(await answer({ code: 'stolen', iss })).toBe(400);
    expect(await answer({ code: 'stolen', iss, state: 'x'.repeat(state.length) })).toBe(400);
    const twice = `${at.href}?code=stolen&iss=${iss}&state=${state}&state=${state}`;
    expect((await fetch(twice)).status).toBe(400);
    expect((await fetch(at, { method: 'POST' })).status).toBe(405);
    expect((await fetch(new URL('/other', at))).status).toBe(404);
    await decide(link, 'allow');
    expect((await ending).code).toBe(0);
  });

  test.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer', {}],
  ])('RFC 9207 section 2.4: with its state and %s ends the login', async (_, members) => {
    const { ending, answer, state } = await begun();
    expect(await answer({ code: 'stolen', state, ...members })).toBe(200);
    const { code, stderr } = await ending;
    expect([code, stderr]).toEqual([1, expect.stringContaining('(RFC 9207)')]);
    await expect(kept()).rejects.toThrow('ENOENT');
  });

  test('does not replace the first one', async () => {
    const { ending, link, answer, state } = await begun();
    await decide(link, 'allow');
    await answer({ code: 'late', state, iss: site.pair.issuer }).catch(() => 0);
    expect((await ending).code).toBe(0);
  });
});

describe('the command refuses before it asks any person', () => {
  test.each([
    ['a site without loopback', { redirect_uris: ['https://app.example/callback'] }],
    ['the description of another', { client_id: 'https://app.example/other' }],
  ])('the command refuses %s, and names the client', async (_, members) => {
    clientId = site.describeClient(`cli-${randomUUID()}`, members);
    expect(await login()).toMatchObject({ code: 1, stderr: expect.stringContaining(clientId) });
  });

  test('a document that does not exist', async () => {
    clientId += 'x';
    const { code, stderr } = await login();
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${clientId} answers 404`)]);
  });

  test.each([
    [['--issuer', 'https://other.example'], 'URL says what --issuer is'],
    [['--resource', 'https://other.example/'], 'URL says what --resource is'],
  ])('%j beside the URL', async (options, words) => {
    const { code, stderr } = await login(...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  test.each(['http://app.example/client', 'https://app.example/'])(
    "the client %s, which is not a document's address",
    async (address) => {
      clientId = address;
      const { code, stderr } = await login();
      expect([code, stderr]).toEqual([2, expect.stringContaining('is no document')]);
    },
  );

  test('a URL that no server describes (RFC 9728)', async () => {
    const { code, stderr } = await run(
      'login',
      `${site.pair.issuer}/nothing`,
      '--client',
      clientId,
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('oauth-protected-resource')]);
  });
});
