import { newSecret } from '#shared/people/client-secret.ts';
import { RESOURCE_SERVER } from '#shared/config/resource-server-client.ts';
import { type Command, Failure } from '../command.ts';
import { findClient } from '../find-client.ts';
import { withStores } from '../with-stores.ts';

export const clientSecret: Command = {
  name: 'client secret',
  summary: 'give a client a new secret; the old one stops working at once',
  operands: ['CLIENT'],
  details: ['Tokens that it has got live on until they expire; `client remove` ends them.'],
  run: ({ operands: [id = ''] }, shell) =>
    withStores(shell, async ({ clients }) => {
      const client = await findClient(clients, id);
      if (id === RESOURCE_SERVER) {
        throw new Failure(
          `client ${id} is built in: its secret follows from the master secret, by which both servers know it`,
        );
      }
      if (client.secret_hash === undefined) {
        throw new Failure(
          `client ${id} has no secret: it uses ${client.token_endpoint_auth_method}`,
        );
      }
      const { secret, secret_hash } = newSecret(shell.random);
      if (!(await clients.replace({ ...client, secret_hash }))) {
        throw new Failure(`client ${id} was removed meanwhile`);
      }
      return {
        json: { client_id: id, client_secret: secret },
        lines: [`client_id: ${id}`, `client_secret: ${secret}`],
      };
    }),
};
