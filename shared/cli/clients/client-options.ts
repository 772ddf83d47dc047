import type { Option } from '../arguments/command.ts';
import { ID_TOKEN_ALGS } from './new-client.ts';

/** What a client is given when it is registered, and may be given later. */
export const CLIENT_OPTIONS = {
  scope: { value: '"A B"', help: 'all scopes it may ever ask for' },
  'default-scope': { value: '"A"', help: 'what it gets when it asks for none; default: all' },
  'redirect-uri': {
    value: 'URI',
    multiple: true,
    help: 'where the code of authorization_code may go',
  },
  'post-logout-redirect-uri': {
    value: 'URI',
    multiple: true,
    help: 'where the browser may go after sign-out',
  },
  'id-token-alg': {
    value: 'ALG',
    help: `signs its ID tokens: ${ID_TOKEN_ALGS.join(' or ')}; default: ${ID_TOKEN_ALGS[0]}`,
  },
  'without-pkce': {
    help: 'it may leave PKCE out where it asks for openid with a nonce (RFC 9700 section 2.1.1)',
  },
  'first-party': {
    help: 'your own: nobody is asked to allow it; the account page lists and ends it',
  },
  origin: {
    value: 'ORIGIN',
    multiple: true,
    help: 'whose scripts may use it, beside those of its redirect URIs',
  },
  resource: {
    value: 'URL',
    multiple: true,
    help: 'a space it may name; default: every one; no --scope is needed if it has none',
  },
  introspects: {
    value: 'URL',
    multiple: true,
    help: 'a space of which it may introspect every token',
  },
} as const satisfies Readonly<Record<string, Option>>;
