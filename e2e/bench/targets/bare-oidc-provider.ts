/** A bare oidc-provider with its own in-memory adapter: one client, JWT access tokens. Argument: its JSON. */
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import type { BareIssuer } from './bare.ts';

const { port, client, scope, audience } = JSON.parse(process.argv[2] ?? '') as BareIssuer;
const { privateKey } = await generateKeyPair('ES256', { extractable: true });

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
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
provider.listen(port, '127.0.0.1');
