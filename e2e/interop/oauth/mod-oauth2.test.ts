import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../parts/free-port.ts';
import { startTlsFront } from '../../parts/tls-front.ts';
import { startApache } from './apache.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';

/**
 * Debian's libapache2-mod-oauth2, a resource server by introspection (RFC 7662), with its default cache and
 * without a cache.
 */
let parts: AsyncDisposableStack;
let site: OAuthSite;
let ports: readonly [remembers: number, asks: number];

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  site = parts.use(await startOAuthSite());
  const { pair } = site;
  const introspects = ['--grant', 'client_credentials', '--introspects', pair.documents];
  const server = await pair.cli('client', 'add', '--name', 'Their API', ...introspects);
  const [remembers, asks] = (ports = [await freePort(), await freePort()]);
  const port = await freePort();
  parts.use(await startTlsFront(pair.data, port, pair.issuer));
  const by = (more = '') =>
    `OAuth2TokenVerify introspect https://localhost:${port}/token/introspection introspect.ssl_verify=false&introspect.auth=client_secret_basic&client_id=${String(server['client_id'])}&client_secret=${String(server['client_secret'])}${more}
<Location /api>
AuthType oauth2
Require oauth2_claim scope:documents:read
</Location>`;
  parts.use(await startApache({ [remembers]: by(), [asks]: by('&expiry=0') }, 'oauth2'));
});
afterAll(() => parts?.disposeAsync());

const get = async (port: number, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(`http://127.0.0.1:${port}/api/index.html`, { headers })).status;
};

test.each([
  ['as it comes remembers a token past its revocation', 0, 200],
  ['with expiry=0 refuses a revoked token at the next request', 1, 401],
] as const)('mod_oauth2 %s', async (_how, index, after) => {
  const client = await site.pair.addClient('documents:read');
  const token = await site.pair.token(client);
  const port = ports[index];
  expect([await get(port), await get(port, token)]).toEqual([401, 200]);
  await site.pair.post('/token/revocation', { token }, client);
  expect(await get(port, token)).toBe(after);
});
