/* An application on keycloak-js. Its server serves the library as `/library.js`. */
import Keycloak from './library.js';

const { config, init } = await (await fetch('/settings.json')).json();
const keycloak = new Keycloak(config);
const events = [];
keycloak.onTokenExpired = () => events.push('expired');
const signedIn = await keycloak.init(init);

const [signIn] = document.querySelectorAll('button');
signIn.addEventListener('click', () => keycloak.login());

globalThis.app = {
  signedIn,
  claims: async () => keycloak.idTokenParsed,
  token: async () => keycloak.token,
  userinfo: () => keycloak.loadUserInfo(),
  events: async () => events,
};
