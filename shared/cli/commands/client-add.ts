import { addClient } from '#shared/operations/clients/client-add.ts';
import { jwksIn } from '#shared/operations/clients/public-jwks.ts';
import { clientLines } from '../clients/client-lines.ts';
import { contentOf } from '../stores/content-of.ts';
import { commandOf } from '../stores/of-operation.ts';

/** Registers a client (RFC 7591 section 2 names its members). */
export const clientAdd = commandOf(addClient, {
  details: [
    'For people there are also the scopes openid, profile, email, groups and offline_access (refresh after',
    'sign-out).',
    'With --document the command registers an MCP client by the address of its description. Servers fetch it now, and',
    'later again. The client may have the scopes of documentClients of the spaces, even if clients.documents is off.',
  ],
  source: contentOf({
    jwks: { option: 'jwks', help: 'its public keys, for private_key_jwt', read: jwksIn },
    gnap_key: {
      option: 'gnap-key',
      help: 'it uses GNAP, with this public JWK, or this certificate in PEM',
    },
  }),
  notes: ({ notes }) => notes,
  lines: ({ client_id: id, client_secret: secret, client }) =>
    client
      ? clientLines(client)
      : [`client_id: ${id}`, ...(secret === undefined ? [] : [`client_secret: ${secret}`])],
});
