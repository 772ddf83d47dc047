/** An application on openid-client that keeps sessions, and ends them by `logout.mjs` of docs/how-to/applications.md. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import * as client from 'openid-client';
import { backchannelLogout } from './logout.mjs';

const { ISSUER, CLIENT, SECRET, ORIGIN } = process.env;
const config = await client.discovery(new URL(ISSUER), CLIENT, SECRET, undefined, {
  execute: [client.allowInsecureRequests],
});
const redirect_uri = `${ORIGIN}/callback`;
const sessions = new Map();
const asked = new Map();
const app = express();

app.get('/', async (request, response) => {
  const [, cookie] = /in=([\w-]+)/.exec(request.headers.cookie ?? '') ?? [];
  const session = sessions.get(cookie);
  if (session) {
    response.json(session);
    return;
  }
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  asked.set(expectedState, { pkceCodeVerifier, expectedState });
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri,
    scope: 'openid profile email groups',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const url = new URL(request.originalUrl, ORIGIN);
  const tokens = await client.authorizationCodeGrant(config, url, asked.get(request.query.state));
  const { sub, sid } = tokens.claims();
  const cookie = randomUUID();
  sessions.set(cookie, { sub, sid });
  response.cookie('in', cookie, { httpOnly: true, sameSite: 'lax' }).redirect('/');
});

app.post('/logout', express.urlencoded(), backchannelLogout(CLIENT, sessions));
app.listen(Number(new URL(ORIGIN).port), '127.0.0.1', () => console.log('listening'));
