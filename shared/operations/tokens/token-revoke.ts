import * as z from 'zod';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { Conflict, operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { checkToken } from './check-token.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** Only tokens that this pair has signed are revoked, since a forged token may carry the jti of another token. */
export const revokeToken = operation({
  name: 'token revoke',
  summary: 'revoke an access token; the next request with the token is refused',
  effect: 'changes',
  input: z.strictObject({
    token: z
      .string()
      .min(1, fault(said('reference', { what: 'an access token' })))
      .max(32_768, fault(said('reference', { what: 'an access token' })))
      .describe('the access token')
      .register(SPELLINGS, { value: 'TOKEN', secret: true }),
  }),
  operands: ['token'],
  output: z.strictObject({ jti: z.string(), revoked: z.literal(true) }),
  async run({ token }, { stores: { keys }, recorder, config, clock }) {
    const checked = await checkToken(token, keys, config, clock);
    if (!checked.ok) {
      throw new Conflict(said('nothing-to-revoke', { why: checked.reason }));
    }
    const { jti, exp, client_id: client, sub } = checked.claims;
    const person = sub === client ? undefined : sub;
    const revoked = { kind: 'token.revoked', id: jti, client, person } as const;
    const revocations = recorder.changing('revocations', revoked);
    await revocations.revoke('token', jti, rememberUntil(exp * 1000, config.tokens.skew));
    return { jti, revoked: true as const };
  },
});
