import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';

export type HomeTexts = typeof homeEn;

/** The texts of the page at `/`. */
export const homeEn = {
  title: (brand: string) => `${brand} authorization server`,
  lead: (resourceServer: Html) =>
    html`People sign in here, and decide what applications and devices may do in their name. Clients
    get access tokens for the ${resourceServer}, which refuses a revoked token at the next request.`,
  resourceServer: 'resource server',
  signIn: 'Sign in to your account',
  developers: (tutorial: Html) => html`Developers begin with ${tutorial}.`,
  made: (file: Html, login: Html) =>
    html`The first start made a person and clients for trials: ${file} in the data folder has their
    credentials. To try a device, run ${login}.`,
  command: 'this command',
  get: 'Get a token',
  help: (command: Html) => html`${command} says how to register a client.`,
  end: 'Revoke a token',
  resources: 'Resources and their scopes',
  noScopes: 'no scopes',
  programs: 'For programs',
  metadata: 'what this server can do (RFC 8414)',
  jwks: 'the public keys with which clients verify its tokens',
  tokenIssuer: 'the token issuer (PrivateToken, RFC 9578)',
  health: 'whether this server can work now',
};
