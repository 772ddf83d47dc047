import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { freePort } from '../../parts/free-port.ts';
import { startTlsFront } from '../../parts/tls-front.ts';
import { startApache } from './apache.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { WAYS } from './ways-in.ts';

/**
 * Debian's libapache2-mod-auth-openidc as a relying party, and as a resource server by introspection and by
 * keys.
 */
let parts: AsyncDisposableStack;
let site: OAuthSite;
/** The ports of the relying parties without and with PKCE; the resource servers' ports follow. */
let ports: readonly [plain: number, pkce: number];

const at = (port: number, path: string) => `http://127.0.0.1:${port}${path}`;
const REDIRECT = '/app/redirect';

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  // Browsers make passkeys for a host name, not for an IP address (WebAuthn section 5.1.3).
  site = parts.use(await startOAuthSite({ issuerHost: 'localhost' }));
  const { pair } = site;
  const [plain, pkce] = (ports = [await freePort(), await freePort()]);
  const scope = ['--scope', 'openid profile documents:read'];
  const relyingParty = async (port: number, ...options: readonly string[]) => {
    const uri = at(port, REDIRECT);
    const { id, secret } = await site.addClient(...scope, '--redirect-uri', uri, ...options);
    return `OIDCProviderMetadataURL ${pair.issuer}/.well-known/openid-configuration
OIDCClientID ${id}
OIDCClientSecret ${secret}
OIDCRedirectURI ${uri}
OIDCCryptoPassphrase a-passphrase-of-this-server
OIDCScope "openid profile"
OIDCRemoteUserClaim preferred_username
<Location /app>
AuthType openid-connect
Require valid-user
Header set X-Person "expr=%{REMOTE_USER}"
Header set X-Acr "expr=%{env:OIDC_CLAIM_acr}"
Header set X-Amr "expr=%{env:OIDC_CLAIM_amr}"
</Location>
<Location /api>
AuthType oauth20
Require claim scope:documents:read
</Location>`;
  };
  const introspects = ['--grant', 'client_credentials', '--introspects', pair.documents];
  const server = await pair.cli('client', 'add', '--name', 'Their API', ...introspects);
  // The module introspects over TLS only.
  const port = await freePort();
  parts.use(await startTlsFront(pair.data, port, pair.issuer));
  const byIntrospection = `OIDCOAuthIntrospectionEndpoint https://localhost:${port}/token/introspection
OIDCOAuthSSLValidateServer Off
OIDCOAuthClientID ${String(server['client_id'])}
OIDCOAuthClientSecret ${String(server['client_secret'])}
OIDCOAuthTokenIntrospectionInterval -1`;
  const byKeys = `OIDCOAuthVerifyJwksUri https://localhost:${port}/jwks\nOIDCOAuthSSLValidateServer Off`;
  parts.use(
    await startApache({
      [plain]: `${await relyingParty(plain, '--pkce', 'nonce')}\n${byIntrospection}`,
      [pkce]: `${await relyingParty(pkce)}\nOIDCPKCEMethod S256\n${byKeys}`,
    }),
  );
});
afterAll(() => parts?.disposeAsync());

/**
 * Visits like a browser, without following redirects; returns the page and its cookies. `fetch` would send
 * the fields of a script.
 */
async function visit(url: string, cookies: ReadonlyMap<string, string> = new Map()) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { statusCode, headers, body } = await request(url, {
    headers: { accept: 'text/html', cookie },
  });
  await body.dump();
  const set = [headers['set-cookie'] ?? []].flat().map((line) => line.split(/[=;]/, 2));
  const kept = set.map(([name = '', value = '']) => [name, value] as const);
  return {
    status: statusCode,
    location: String(headers['location']),
    person: headers['x-person'],
    acr: headers['x-acr'],
    amr: headers['x-amr'],
    cookies: new Map([...cookies, ...kept]),
  };
}

describe('mod_auth_openidc as a relying party', () => {
  test.each([
    ['as its manual shows it, registered --pkce nonce: it sends a nonce', 0, false],
    ['with OIDCPKCEMethod S256', 1, true],
  ] as const)('signs a person in %s', async (_how, index, challenge) => {
    const page = at(ports[index], '/app/index.html');
    const sent = await visit(page);
    const asked = new URL(sent.location).searchParams;
    expect([asked.has('nonce'), asked.has('code_challenge')]).toEqual([true, challenge]);
    const answer = await site.person.answer(sent.location);
    const back = await visit(answer.href, sent.cookies);
    expect(back).toMatchObject({ status: 302, location: page });
    expect(await visit(page, back.cookies)).toMatchObject({ status: 200, person: 'alice' });
  });

  test.each(Object.entries(WAYS))(
    'RFC 8176 section 2: gets acr and amr of a %s',
    async (name, way) => {
      const browser = await way.person(site.pair, await site.pair.addPerson(name));
      const page = at(ports[1], '/app/index.html');
      const sent = await visit(page);
      const back = await visit((await browser.answer(sent.location)).href, sent.cookies);
      expect(await visit(page, back.cookies)).toMatchObject({
        person: name,
        acr: `urn:countersign:acr:${name}`,
        amr: way.amr.join(','),
      });
    },
  );
});

describe('mod_auth_openidc as a resource server', () => {
  const get = async (port: number, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(at(port, '/api/index.html'), { headers })).status;
  };

  test('by introspection (RFC 7662) refuses a revoked token from the next request on', async () => {
    const client = await site.pair.addClient('documents:read');
    const [port] = ports;
    const token = await site.pair.token(client);
    expect([await get(port), await get(port, token)]).toEqual([401, 200]);
    await site.pair.post('/token/revocation', { token }, client);
    expect(await get(port, token)).toBe(401);
  });

  test('by keys (RFC 9068) accepts a token with its scope, and refuses a token without', async () => {
    const [, port] = ports;
    const [reader, writer] = [
      await site.pair.addClient('documents:read'),
      await site.pair.addClient('documents:write'),
    ];
    expect(await get(port, await site.pair.token(reader))).toBe(200);
    expect(await get(port, await site.pair.token(writer))).toBe(401);
  });
});
