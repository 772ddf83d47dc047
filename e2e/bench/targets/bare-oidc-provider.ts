/**
 * A bare oidc-provider with one client and JWT access tokens, which stores everything else in memory or in
 * a SQLite file. `POST /bench/code` answers with an authorization code, as if a person had just signed in
 * and consented. Argument: its JSON.
 */
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import type { BareIssuer } from './bare.ts';
import { sqliteAdapter } from './sqlite-adapter.ts';

const { port, client, scope, audience, redirectUri, challenge, file } = JSON.parse(
  process.argv[2] ?? '',
) as BareIssuer;
const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const ACCOUNT = 'alice';

const provider = new Provider(`http://127.0.0.1:${port}`, {
  ...(file !== undefined && { adapter: sqliteAdapter(file) }),
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [redirectUri],
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope,
        audience,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 600,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});

const grant = new provider.Grant({ accountId: ACCOUNT, clientId: client.id });
grant.addResourceScope(audience, scope);
const grantId = await grant.save();

provider.use((ctx, next) => (ctx.path === '/bench/code' ? issueCode(ctx) : next()));
provider.listen(port, '127.0.0.1');

async function issueCode(ctx: { body: unknown }): Promise<void> {
  const found = await provider.Client.find(client.id);
  if (found === undefined) throw new Error('there is no client');
  const code = new provider.AuthorizationCode({
    client: found,
    accountId: ACCOUNT,
    gty: 'authorization_code',
    grantId,
    redirectUri,
    scope,
    resource: audience,
    codeChallenge: challenge,
    codeChallengeMethod: 'S256',
    authTime: Math.floor(Date.now() / 1000),
  });
  ctx.body = await code.save();
}
