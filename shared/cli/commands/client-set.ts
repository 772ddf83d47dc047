import { CLEARED, setClient } from '#shared/operations/clients/client-set.ts';
import { jwksIn } from '#shared/operations/clients/public-jwks.ts';
import { contentOf } from '../stores/content-of.ts';
import { clientLines } from '../clients/client-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientSet = commandOf(setClient, {
  details: [
    `OPTION: ${CLEARED.slice(0, 6).join(', ')},`,
    `${CLEARED.slice(6).join(', ')}.`,
    'The values of an option replace all earlier values. The grants of a client, its authentication method and --native',
    'cannot change: register another client. Its tokens stay valid until they expire. After you remove a scope, the next',
    'refresh and UserInfo no longer have it.',
  ],
  source: contentOf({
    jwks: { option: 'jwks', help: 'its public keys, of private_key_jwt', read: jwksIn },
  }),
  notes: ({ notes }) => notes,
  lines: clientLines,
});
