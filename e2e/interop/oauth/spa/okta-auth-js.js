/* An application on okta-auth-js, whose browser bundle is the global `OktaAuth`. */
const okta = new OktaAuth(await (await fetch('/settings.json')).json());

if (location.pathname === '/callback') {
  const { tokens } = await okta.token.parseFromUrl();
  okta.tokenManager.setTokens(tokens);
}

const [signIn] = document.querySelectorAll('button');
signIn.addEventListener('click', () => okta.token.getWithRedirect());

globalThis.app = {
  tokens: () => okta.tokenManager.getTokens(),
  userinfo: () => okta.token.getUserInfo(),
  renew: async () => {
    const tokens = await okta.token.renewTokens();
    okta.tokenManager.setTokens(tokens);
    return tokens;
  },
};
