import { type Command, Failure } from '../arguments/command.ts';
import { findClient } from '#shared/operations/clients/find-client.ts';
import { createProver } from '../oauth/dpop.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { requestToken } from '../oauth/token-request.ts';
import { readSecret, SECRET_OPTIONS } from '../arguments/secret.ts';
import { withStores } from '../stores/with-stores.ts';

export const tokenGet: Command = {
  name: 'token get',
  store: 'opens',
  summary: 'get an access token with the credentials of a client and print it',
  operands: ['CLIENT'],
  options: {
    ...SECRET_OPTIONS,
    scope: { value: '"A B"', help: "the scope of the token; default: the client's default" },
    resource: {
      value: 'URL',
      help: 'the space that the token is for; default: the first space with these scopes',
    },
    dpop: { help: 'bind the token to a new key; --json prints the private key as dpop_jwk' },
  },
  details: ['Without an option the command reads the secret from COUNTERSIGN_CLIENT_SECRET.'],
  run: async (input, shell) => {
    const secret = await readSecret(input, shell);
    const { client, issuer } = await withStores(shell, async ({ clients }, config) => ({
      client: await findClient(clients, input.operands[0] ?? ''),
      issuer: config.issuer,
    }));
    if (client.secret_hash === undefined)
      throw new Failure(`client ${client.client_id} has no secret`);
    const prover = input.flag('dpop') ? await createProver(shell.clock, shell.random) : undefined;
    const answer = await requestToken(sendUnhurried, {
      issuer,
      client,
      secret,
      scope: input.text('scope'),
      resource: input.text('resource'),
      prover,
    });
    return {
      json: { ...answer, ...(prover && { dpop_jwk: prover.privateJwk }) },
      lines: [answer.access_token],
    };
  },
};
