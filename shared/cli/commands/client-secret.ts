import { renewSecret } from '#shared/operations/clients/client-secret.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientSecret = commandOf(renewSecret, {
  details: [
    'If the secret may have leaked, give --overlap 0. A client has at most one old secret: an older secret ends now.',
    'Tokens of the client stay valid until they expire; `client remove` revokes them.',
  ],
  lines: ({ client_id: id, client_secret: secret, overlap }) => [
    `client_id: ${id}`,
    `client_secret: ${secret}`,
    overlap === 0
      ? 'The old secret has ended.'
      : `The old secret ends ${overlap} seconds from now.`,
  ],
});
