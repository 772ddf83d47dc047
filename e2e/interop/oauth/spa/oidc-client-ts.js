/* An application on oidc-client-ts, whose browser bundle is the global `oidc`. */
const { dpop, ...settings } = await (await fetch('/settings.json')).json();
const manager = new oidc.UserManager({
  ...settings,
  automaticSilentRenew: false,
  ...(dpop && {
    dpop: { bind_authorization_code: true, store: new oidc.IndexedDbDPoPStore() },
  }),
});

if (location.pathname === '/callback') await manager.signinCallback();
if (location.pathname === '/signed-out') await manager.signoutCallback();

const [signIn, signOut] = document.querySelectorAll('button');
signIn.addEventListener('click', () => manager.signinRedirect());
signOut.addEventListener('click', () => manager.signoutRedirect());

/** The fields of a request with the person's token. */
async function headersFor(method, url, nonce) {
  const user = await manager.getUser();
  const proof = await manager.dpopProof(url, user, method, nonce);
  const authorization = `${user.token_type} ${user.access_token}`;
  return proof === undefined ? { authorization } : { authorization, DPoP: proof };
}

/** The fields of a request, with the nonce that the server required after a GET (RFC 9449 section 9). */
async function freshHeaders(method, url) {
  const refused = await fetch(url, { headers: await headersFor('GET', url) });
  return headersFor(method, url, refused.headers.get('dpop-nonce') ?? undefined);
}

async function request(url, init = {}) {
  const headers = await freshHeaders(init.method ?? 'GET', url);
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, text: await response.text() };
}

globalThis.app = {
  user: () => manager.getUser(),
  refresh: () => manager.signinSilent(),
  freshHeaders,
  request,
};
