import { privateToken } from '#shared/auth/schemes/private-token/private-token.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { PRIVATE_TOKEN_STEPS } from '#shared/explain/schemes/private-token.ts';
import { BLIND_RSA } from '#shared/private-token/token-types.ts';
import { type Checks, ofCredentials, type Recorded } from '../recorded.ts';
import { refusalBy } from './refusal-by.ts';

/** RFC 9577. */
export const privateTokenChecks: Checks = ofCredentials(async (recorded) =>
  checksOf(PRIVATE_TOKEN_STEPS, await refusalBy(schemeOf(recorded), recorded)),
);

/** The scheme, with a memory of the tokens of this exchange alone. */
function schemeOf({ url, clock, tokenIssuer }: Recorded) {
  const spent = new Set<string>();
  return privateToken({
    space: { url, types: [BLIND_RSA], origins: [] },
    issuer: tokenIssuer,
    spent: {
      async spend(token) {
        const before = spent.size;
        return spent.add(Buffer.from(token).toString('hex')).size > before;
      },
    },
    limits: { spend: () => ({ ok: true, remaining: 1, reset: 1 }) },
    rate: { burst: 1, per: 1 },
    windowSecret: Buffer.alloc(0),
    addressSecret: Buffer.alloc(0),
    memory: async () => '',
    clock,
  });
}
