import { sameBytes } from '#shared/base/constant-time.ts';
import { UNSTORED } from '#shared/http/answer.ts';
import { parseToken } from '#shared/private-token/token.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { TOKEN_MEDIA_TYPE, type Verification } from '#shared/private-token/verification.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { turnOf } from '#shared/http/turn.ts';
import { clientOf } from '#shared/server/message/message.ts';
import { receive } from './content.ts';
import type { IssuerKeyRing } from './key-ring.ts';
import type { Pay } from './pay.ts';
import type { Work } from '../resources/protection.ts';

export interface TokenVerification {
  readonly ring: IssuerKeyRing;
  readonly voprf: VoprfThreads;
  readonly pay: Pay;
  /** The rate of tokens for one client. */
  readonly rate: Rate;
}

/**
 * Verifies tokens that only their issuer can verify (RFC 9578 section 5.4), for the resource servers of this server,
 * which record spent tokens themselves. No part of a token is stored or logged.
 */
export function tokenVerification({ ring, voprf, pay, rate }: TokenVerification): Work {
  return async (request, { clientId, judgeAgain }) => {
    const content = await receive(request, TOKEN_MEDIA_TYPE);
    await judgeAgain();
    const token = parseToken(content);
    if (token?.type !== VOPRF) {
      throw unprocessable('Send a token of type 1. Anybody can verify a token of type 2.');
    }
    await pay('private-token-verification', [clientId], rate);
    const key = await ring.find(({ type, id }) => type === VOPRF && id.equals(token.keyId));
    const turn = turnOf(clientId, clientOf(request));
    const right = key && (await voprf.evaluate(turn, key.privateKey, token.input));
    const verification: Verification = {
      valid: right !== undefined && sameBytes(right, token.authenticator),
    };
    return {
      status: 200,
      fields: { ...UNSTORED, 'Content-Type': 'application/json' },
      body: JSON.stringify(verification),
    };
  };
}
