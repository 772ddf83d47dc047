import { revokeToken } from '#shared/operations/tokens/token-revoke.ts';
import { readToken } from '../arguments/read-token.ts';
import { commandOf } from '../stores/of-operation.ts';

export const tokenRevoke = commandOf(revokeToken, {
  details: ['TOKEN: the token, or - to read it from standard input.'],
  source: {
    members: ['token'],
    options: {},
    read: async ({ operands: [operand] }, shell) => ({
      given: { token: await readToken(operand, shell) },
    }),
  },
  lines: ({ jti }) => [`Revoked ${jti}.`],
});
