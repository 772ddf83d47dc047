/** msal-node, whose `acquireTokenSilent` repeats its scopes (script-client.ts runs this script). */
import { createInterface } from 'node:readline';
import { ConfidentialClientApplication, CryptoProvider, ProtocolMode } from '@azure/msal-node';

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const line = async () => (await input.next()).value ?? '';

const asked = JSON.parse(await line()) as Readonly<
  Record<'issuer' | 'client_id' | 'secret' | 'redirect_uri' | 'scope', string>
>;
const app = new ConfidentialClientApplication({
  auth: {
    clientId: asked.client_id,
    clientSecret: asked.secret,
    authority: asked.issuer,
    knownAuthorities: [new URL(asked.issuer).host],
  },
  system: { protocolMode: ProtocolMode.OIDC },
});
const { verifier, challenge } = await new CryptoProvider().generatePkceCodes();
// msal-node adds openid, profile and offline_access by itself.
const request = { scopes: asked.scope.split(' '), redirectUri: asked.redirect_uri };
const pkce = { codeChallenge: challenge, codeChallengeMethod: 'S256' };
console.log(await app.getAuthCodeUrl({ ...request, ...pkce }));
const callback = new URL(await line());
const code = callback.searchParams.get('code') ?? '';
const first = await app.acquireTokenByCode({ ...request, code, codeVerifier: verifier });
if (first.account === null) throw new Error('no account in the cache');
const silent = { ...request, account: first.account, forceRefresh: true };
const second = await app.acquireTokenSilent(silent);
const scopes = [first, second].map((result) => result.scopes.join(' '));
console.log(JSON.stringify({ scopes, token: second.accessToken }));
process.exit();
