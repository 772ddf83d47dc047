import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';

export type HomeTexts = typeof homeEn;

/** The texts of the page at `/`. */
export const homeEn = {
  title: (brand: string) => `${brand} authorization server`,
  lead: (resourceServer: Html) =>
    html`People sign in here and decide what applications and devices may do in their name. Clients
    get access tokens, which open the ${resourceServer}. A token that is revoked is refused by the
    next request.`,
  resourceServer: 'resource server',
  made: (file: Html) =>
    html`The first start has made a person and clients to try this with: their lines are in ${file}
    in the data folder.`,
  people: 'For people',
  account: 'where you are signed in, what has access, and how to end it',
  device: (command: Html) =>
    html`enter the code that it shows. To try it, run ${command}: the command line is the device.`,
  get: 'Get a token',
  help: (command: Html) => html`${command} says how to make a client.`,
  end: 'End a token',
  resources: 'Resources and their scopes',
  noScopes: 'no scopes',
  programs: 'For programs',
  metadata: 'what this server can do (RFC 8414)',
  jwks: 'the keys that its tokens are signed with',
  tokenIssuer: 'the token issuer (PrivateToken, RFC 9578)',
  health: 'whether it can work now',
};
