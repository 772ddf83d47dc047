import type { Principal } from '#shared/auth/scheme.ts';
import type { Clock } from '#shared/base/clock.ts';
import { REQUEST_TYPE, RESPONSE_TYPE } from '#shared/private-token/issuer-directory.ts';
import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import { UNSTORED } from '#shared/http/answer.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { turnOf } from '#shared/http/turn.ts';
import { clientOf } from '#shared/server/message/message.ts';
import { receive } from './content.ts';
import type { IssuerKeyRing } from './key-ring.ts';
import type { Pay } from './pay.ts';
import type { Work } from '../resources/protection.ts';

export interface Issuance {
  readonly ring: IssuerKeyRing;
  readonly pay: Pay;
  /** The rate of tokens for one person through one client. */
  readonly rate: Rate;
  readonly clock: Clock;
  /** Seconds by which the clock of another process may be ahead. */
  readonly skew: number;
}

/**
 * Answers token requests (RFC 9578 sections 5.2 and 6.2). Each request is counted before any computation, so that
 * concurrent requests get no more tokens than the rate allows. The content is neither stored nor logged.
 */
export function issuance({ ring, pay, rate, clock, skew }: Issuance): Work {
  return async (request, { clientId, principal, judgeAgain }) => {
    const content = await receive(request, REQUEST_TYPE);
    await judgeAgain();
    const asked = parseTokenRequest(content);
    if (asked === undefined) {
      throw unprocessable('This is no token request of a type in the directory of the issuer.');
    }
    const key = await ring.find(
      ({ type, id, notBefore }) =>
        type === asked.type &&
        truncatedKeyId(id) === asked.truncatedKeyId &&
        notBefore <= clock.now() + skew * 1000,
    );
    if (key === undefined) {
      throw unprocessable('No key of that id issues now. Fetch the directory of the issuer again.');
    }
    const requester = requesterOf(principal, clientId);
    await pay('private-token', requester, rate);
    const turn = turnOf(JSON.stringify(requester), clientOf(request));
    const body = await key.blindSign(turn, asked.blinded);
    if (body === undefined)
      throw unprocessable(
        'The blinded message has the wrong length or is not a value of this token type.',
      );
    return { status: 200, fields: { ...UNSTORED, 'Content-Type': RESPONSE_TYPE }, body };
  };
}

/** Returns the strings that name the payer: a person and a client, or a client alone. */
function requesterOf(principal: Principal, clientId: string): readonly string[] {
  return principal.kind === 'person' ? [principal.realm, principal.name, clientId] : [clientId];
}
