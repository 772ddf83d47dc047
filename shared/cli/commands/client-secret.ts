import { renewSecret } from '#shared/operations/clients/client-secret.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientSecret = commandOf(renewSecret, {
  details: [
    'If somebody else may know the secret, give --overlap 0. A client has at most one old secret: an older one ends',
    'now. Tokens that the client has stay valid until they expire; `client remove` ends them.',
  ],
  lines: ({ client_id: id, client_secret: secret, overlap }) => [
    `client_id: ${id}`,
    `client_secret: ${secret}`,
    overlap === 0
      ? 'The old secret has ended.'
      : `The old secret ends ${overlap} seconds from now.`,
  ],
});
