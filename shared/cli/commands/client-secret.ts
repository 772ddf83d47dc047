import { newSecret } from '#shared/people/client-secret.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { findClient, isBuiltIn } from '../clients/find-client.ts';
import { overlapFrom, overlapOption } from '../arguments/overlap-option.ts';
import { withStores } from '../stores/with-stores.ts';

export const clientSecret: Command = {
  name: 'client secret',
  store: 'opens',
  summary: 'give a client a new secret; the old one stays valid for a while',
  operands: ['CLIENT'],
  options: overlapOption('secret'),
  details: [
    'If somebody else may know the secret, give --overlap 0. A client has at most one old secret: an older one ends',
    'now. Tokens that the client has stay valid until they expire; `client remove` ends them.',
  ],
  run: (input, shell) =>
    withStores(shell, async ({ clients }) => {
      const [id = ''] = input.operands;
      const overlap = overlapFrom(input);
      const client = await findClient(clients, id);
      if (isBuiltIn(id)) {
        throw new Failure(
          `client ${id} is built in: its secret follows from the master secret, by which both servers know it`,
        );
      }
      const { secret_hash: old, former_secret: _, ...rest } = client;
      if (old === undefined) {
        throw new Failure(
          `client ${id} has no secret: it uses ${client.token_endpoint_auth_method}`,
        );
      }
      const { secret, secret_hash } = newSecret(shell.random);
      const now = shell.clock.now();
      const former_secret = { hash: old, from: now, until: now + 1000 * overlap };
      const changed = { ...rest, secret_hash, ...(overlap > 0 && { former_secret }) };
      // A secret that is printed is valid: of several commands at once the others are refused.
      if (!(await clients.replace(changed, client))) {
        throw new Failure(
          `client ${id} was changed or removed meanwhile: look at it, then try again`,
        );
      }
      return {
        json: { client_id: id, client_secret: secret },
        lines: [
          `client_id: ${id}`,
          `client_secret: ${secret}`,
          overlap === 0
            ? 'The old secret has ended.'
            : `The old secret ends ${overlap} seconds from now.`,
        ],
      };
    }),
};
