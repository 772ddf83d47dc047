import * as client from 'openid-client';
import { appWithSessions, CALLBACK_PATH, type MakeApp, SCOPE, sessionOf, show } from './app.ts';

/** openid-client, used as its documentation says: PKCE, state and nonce, then userinfo. */
export const openidClientApp: MakeApp = async ({ issuer, id, secret, origin }) => {
  const config = await client.discovery(new URL(issuer), id, secret, undefined, {
    execute: [client.allowInsecureRequests],
  });
  const app = appWithSessions();

  app.get('/', async (request, response) => {
    const session = sessionOf(request);
    if (session['claims']) return show(response, session['claims'] as client.IDToken);
    const checks = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedState: client.randomState(),
      expectedNonce: client.randomNonce(),
    };
    session['checks'] = checks;
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: origin + CALLBACK_PATH,
      scope: SCOPE,
      code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: checks.expectedState,
      nonce: checks.expectedNonce,
    });
    response.redirect(url.href);
  });

  app.get(CALLBACK_PATH, async (request, response) => {
    const session = sessionOf(request);
    const url = new URL(request.originalUrl, origin);
    const checks = session['checks'] as client.AuthorizationCodeGrantChecks;
    const tokens = await client.authorizationCodeGrant(config, url, checks);
    const { sub = '' } = tokens.claims() ?? {};
    const told = await client.fetchUserInfo(config, tokens.access_token, sub);
    session['claims'] = { ...tokens.claims(), ...told };
    response.redirect('/');
  });
  return app;
};
