import type { Recorder } from '#shared/audit/recorder.ts';
import type { Config } from '#shared/config/schema.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { GRANTS } from '../clients/client-grants.ts';
import { CLIENT_OPTIONS } from '../clients/client-options.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { AUTH_METHODS, newClient } from '../clients/new-client.ts';
import { refuseKeysOfPeople } from '../clients/keys-of-client.ts';
import { withStores } from '../stores/with-stores.ts';

/** Registers a client (RFC 7591 section 2 names its members). */
export const clientAdd: Command = {
  name: 'client add',
  store: 'opens',
  summary: 'register a client; prints its identifier and its secret (shown only this once)',
  options: {
    name: { value: 'NAME', required: true, help: 'its name for people' },
    grant: {
      value: 'GRANT',
      required: true,
      multiple: true,
      help: Object.keys(GRANTS).join(', '),
    },
    public: { help: 'it runs in a browser or on a device, cannot keep a secret, and gets none' },
    auth: { value: 'METHOD', help: `${AUTH_METHODS.join(', ')}; default: ${AUTH_METHODS[0]}` },
    jwks: { value: 'FILE', help: 'its public keys, for private_key_jwt' },
    'gnap-key': {
      value: 'FILE',
      help: 'it speaks GNAP, with this public JWK, or this certificate in PEM',
    },
    'gnap-bearer': { help: 'it may have tokens of GNAP that are bound to no key' },
    native: { help: 'an installed application: its loopback redirect URIs may have any port' },
    ...CLIENT_OPTIONS,
  },
  details: [
    'For people there are also the scopes openid, profile, email, groups and offline_access (refresh after',
    'sign-out).',
  ],
  run: async (input, shell) => {
    const config = await loadConfig(shell.env);
    const { secret, ...client } = await newClient(input, shell, config);
    const work = async ({ publicKeys }: Stores, _: Config, recorder: Recorder) => {
      await refuseKeysOfPeople(publicKeys, client);
      const added = { kind: 'client.added', client: client.client_id } as const;
      if (!(await recorder.changing('clients', added).add(client))) {
        throw new Failure(
          client.gnap
            ? `client ${client.client_id} has this key already`
            : 'the identifier is taken: try again',
        );
      }
      const credentials = { client_id: client.client_id, ...(secret && { client_secret: secret }) };
      return {
        json: credentials,
        lines: Object.entries(credentials).map(([name, value]) => `${name}: ${value}`),
      };
    };
    return withStores(shell, work, config);
  },
};
