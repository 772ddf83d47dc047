import { keyInDirectory } from '#shared/people/key-purposes.ts';
import { GRANTS } from '../client-grants.ts';
import { type Command, Failure } from '../command.ts';
import { ID_TOKEN_ALGS, AUTH_METHODS, newClient } from '../new-client.ts';
import { withStores } from '../with-stores.ts';

/** Registers a client (RFC 7591 section 2 names its members). */
export const clientAdd: Command = {
  name: 'client add',
  summary: 'register a client and print its identifier and its secret, which is shown only now',
  options: {
    name: { value: 'NAME', required: true, help: 'what people call it' },
    grant: {
      value: 'GRANT',
      required: true,
      multiple: true,
      help: Object.keys(GRANTS).join(', '),
    },
    scope: { value: '"A B"', help: 'all scopes it may ever ask for' },
    'default-scope': { value: '"A"', help: 'what it gets when it asks for none; default: all' },
    public: { help: 'it can keep no secret: it runs in a browser or on a device, and gets none' },
    auth: { value: 'METHOD', help: `${AUTH_METHODS.join(', ')}; default: ${AUTH_METHODS[0]}` },
    jwks: { value: 'FILE', help: 'its public keys, for private_key_jwt' },
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
    native: { help: 'an installed application: the port of its loopback redirect URIs is free' },
    origin: {
      value: 'ORIGIN',
      multiple: true,
      help: 'whose scripts may use it, beside those of its redirect URIs',
    },
    resource: { value: 'URL', multiple: true, help: 'a space it may name; default: every one' },
    introspects: {
      value: 'URL',
      multiple: true,
      help: 'a space of which it may introspect every token',
    },
  },
  details: [
    'For people there are also the scopes openid, profile, email, groups and offline_access (refresh after',
    'sign-out).',
  ],
  run: (input, shell) =>
    withStores(shell, async ({ clients, publicKeys }, config) => {
      const { secret, ...client } = await newClient(input, shell, config);
      for (const jwk of client.jwks?.keys ?? []) {
        const known = await keyInDirectory({ publicKeys }, jwk);
        if (known !== undefined)
          throw new Failure(`${known.id} is a key for ${known.scheme}: make another`);
      }
      if (!(await clients.add(client))) throw new Failure('the identifier is taken: try again');
      const credentials = { client_id: client.client_id, ...(secret && { client_secret: secret }) };
      return {
        json: credentials,
        lines: Object.entries(credentials).map(([name, value]) => `${name}: ${value}`),
      };
    }),
};
