import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { checkToken } from '../stores/check-token.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { readToken } from '../arguments/read-token.ts';
import { withStores } from '../stores/with-stores.ts';

/** A forged token may carry the jti of another: only what this pair has signed is revoked. */
export const tokenRevoke: Command = {
  name: 'token revoke',
  store: 'opens',
  summary: 'revoke an access token; the next request with it is refused',
  operands: ['TOKEN'],
  details: ['TOKEN: the token, or - to read it from standard input.'],
  run: ({ operands: [operand] }, shell) =>
    withStores(shell, async ({ keys, revocations }, config) => {
      const token = await readToken(operand, shell);
      const checked = await checkToken(token, keys, config, shell.clock);
      if (!checked.ok)
        throw new Failure(`nothing to revoke, no server accepts it: ${checked.reason}`);
      const { jti, exp } = checked.claims;
      await revocations.revoke('token', jti, rememberUntil(exp * 1000, config.tokens.skew));
      return { json: { jti, revoked: true }, lines: [`Revoked ${jti}.`] };
    }),
};
