/* An application on oauth4webapi: all protocol steps in order, with a key that never leaves the browser. */
import * as oauth from './library.js';

const settings = await (await fetch('/settings.json')).json();
const INSECURE = { [oauth.allowInsecureRequests]: true };
const client = { client_id: settings.client_id };
const issuer = new URL(settings.issuer);
const as = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, INSECURE),
);

/** Runs one operation on the database store, whose content survives the redirects. */
function inDatabase(operate) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('app');
    opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore('keys'));
    opening.addEventListener('error', () => reject(opening.error));
    opening.addEventListener('success', () => {
      const store = opening.result.transaction('keys', 'readwrite').objectStore('keys');
      const operation = operate(store);
      operation.addEventListener('error', () => reject(operation.error));
      operation.addEventListener('success', () => resolve(operation.result));
    });
  });
}

async function key() {
  const found = await inDatabase((store) => store.get('dpop'));
  if (found !== undefined) return found;
  const made = await oauth.generateKeyPair('ES256');
  await inDatabase((store) => store.put(made, 'dpop'));
  return made;
}

const DPoP = oauth.DPoP(client, await key());
const bound = { ...INSECURE, DPoP };

/** Repeats the attempt once if the server requires a nonce (RFC 9449 section 8). */
async function again(attempt) {
  try {
    return await attempt();
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return attempt();
  }
}

/** RFC 9126: the request is pushed, and the browser carries only a reference. */
async function signIn() {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = oauth.generateRandomNonce();
  const parameters = {
    response_type: 'code',
    redirect_uri: settings.redirect_uri,
    scope: settings.scope,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  };
  const { request_uri } = await again(async () => {
    const pushed = oauth.pushedAuthorizationRequest(as, client, oauth.None(), parameters, bound);
    return oauth.processPushedAuthorizationResponse(as, client, await pushed);
  });
  sessionStorage.setItem('request', JSON.stringify({ verifier, state, nonce }));
  const url = new URL(as.authorization_endpoint);
  url.search = new URLSearchParams({ client_id: client.client_id, request_uri });
  location.assign(url);
}

/** RFC 9207: `iss` is checked before the code is sent to any server. */
async function redeem(callback) {
  const { verifier, state, nonce } = JSON.parse(sessionStorage.getItem('request'));
  const checked = oauth.validateAuthResponse(as, client, new URL(callback), state);
  return again(async () => {
    const answer = oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      checked,
      settings.redirect_uri,
      verifier,
      bound,
    );
    const options = { expectedNonce: nonce, requireIdToken: true };
    return oauth.processAuthorizationCodeResponse(as, client, await answer, options);
  });
}

async function userinfo({ access_token }, subject) {
  return again(async () => {
    const answer = await oauth.userInfoRequest(as, client, access_token, bound);
    return oauth.processUserInfoResponse(as, client, subject, answer);
  });
}

/** Returns the status and the text of the answer. */
async function request({ access_token }, method, url, body) {
  try {
    const response = await again(() =>
      oauth.protectedResourceRequest(access_token, method, new URL(url), undefined, body, bound),
    );
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
    const challenge = error.cause.find(({ scheme }) => scheme === 'dpop');
    return { status: error.status, error: challenge?.parameters.error };
  }
}

async function refresh({ refresh_token }) {
  return again(async () => {
    const answer = oauth.refreshTokenGrantRequest(as, client, oauth.None(), refresh_token, bound);
    return oauth.processRefreshTokenResponse(as, client, await answer);
  });
}

async function revoke(token) {
  const answer = await oauth.revocationRequest(as, client, oauth.None(), token, INSECURE);
  await oauth.processRevocationResponse(answer);
}

document.querySelector('button').addEventListener('click', () => void signIn());

globalThis.app = { redeem, userinfo, request, refresh, revoke };
