import type { Option } from '../arguments/command.ts';
import { ID_TOKEN_ALGS } from './new-client.ts';

/** The options of a client at its registration, which can also change later. */
export const CLIENT_OPTIONS = {
  'logo-uri': {
    value: 'URL',
    help: 'the address of its logo (https), which people see where they sign in and decide',
  },
  scope: { value: '"A B"', help: 'all scopes that the client may ask for' },
  'default-scope': {
    value: '"A"',
    help: 'the scopes that it gets if it asks for none; default: all',
  },
  'redirect-uri': {
    value: 'URI',
    multiple: true,
    help: 'where the browser may take the authorization code',
  },
  'post-logout-redirect-uri': {
    value: 'URI',
    multiple: true,
    help: 'where the browser may go after sign-out',
  },
  'id-token-alg': {
    value: 'ALG',
    help: `algorithm of its ID tokens: ${ID_TOKEN_ALGS.join(' or ')}; default: ${ID_TOKEN_ALGS[0]}`,
  },
  'without-pkce': {
    help: 'it may leave out PKCE if it asks for openid with a nonce (RFC 9700 section 2.1.1)',
  },
  'first-party': {
    help: 'your own application: nobody is asked for consent; the account page lists and ends it',
  },
  admin: {
    help: 'a machine that may administer this server: scope admin, or admin:read to look only',
  },
  origin: {
    value: 'ORIGIN',
    multiple: true,
    help: 'an origin whose scripts may use it, besides the origins of its redirect URIs',
  },
  resource: {
    value: 'URL',
    multiple: true,
    help: 'a space that it gets tokens for; default: all; without scopes, no --scope is needed',
  },
  introspects: {
    value: 'URL',
    multiple: true,
    help: 'a space whose tokens it may introspect',
  },
} as const satisfies Readonly<Record<string, Option>>;
