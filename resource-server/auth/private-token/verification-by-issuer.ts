import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { Line } from '#shared/base/line.ts';
import type { Log } from '#shared/base/log.ts';
import { portion } from '#shared/base/workers.ts';
import { busy } from '#shared/http/answer.ts';
import { TOKEN_MEDIA_TYPE } from '#shared/private-token/verification.ts';
import type { AccessTokens } from './client-credentials.ts';
import { jsonOf, type Reply, type Send } from '#shared/client/send.ts';
import type { Verify } from './verification.ts';

export interface VerificationByIssuer {
  /** The URL of the issuer's verification endpoint. */
  readonly url: string;
  readonly accessTokens: AccessTokens;
  readonly send: Send;
  readonly log: Log;
}

/** Limits of the seconds after which a client may try again. `least` also applies without a value of the issuer. */
const RETRY = { least: 1, most: 3600 };

/**
 * Tokens that are verified at the issuer at a time. The issuer attributes all of them to one client, so further tokens
 * wait here.
 */
const AT_ONCE = portion(16);
const WAITING = portion(160);

/** Verifies tokens that only the issuer can verify (RFC 9578 section 5.4), by a request for each token. */
export function verificationByIssuer(options: VerificationByIssuer): Verify {
  const { url, accessTokens, send, log } = options;
  const line = new Line({ lanes: AT_ONCE, most: WAITING, tooMany: busy });

  function unavailable(reason: string, seconds = RETRY.least): KeysUnavailable {
    log.warn('private-token.verification', { url, reason });
    return new KeysUnavailable(seconds);
  }

  async function ask(content: Buffer, accessToken: string): Promise<Reply> {
    const fields = {
      authorization: `Bearer ${accessToken}`,
      'content-type': TOKEN_MEDIA_TYPE,
      accept: 'application/json',
    };
    try {
      return await send({ method: 'POST', url, fields, body: content });
    } catch (error) {
      throw unavailable(String(error));
    }
  }

  async function verify(content: Buffer): Promise<boolean> {
    const accessToken = await accessTokens.token();
    let reply = await ask(content, accessToken);
    // The access token may have been revoked, or the issuer may have lost its memory.
    if (reply.status === 401) reply = await ask(content, await accessTokens.token(accessToken));
    const answer = reply.status === 200 ? jsonOf(reply) : undefined;
    const valid = isObject(answer) ? answer['valid'] : undefined;
    if (typeof valid === 'boolean') return valid;
    throw unavailable(`the issuer answered ${reply.status}`, retryAfter(reply));
  }

  return ({ input, authenticator }, _key, turn) =>
    line.run(turn, () => verify(Buffer.concat([input, authenticator])));
}

/** Reads Retry-After (RFC 9110 section 10.2.3). */
function retryAfter(reply: Reply): number {
  const seconds = Number(/^\d+$/.exec(reply.fields['retry-after'] ?? '')?.[0] ?? RETRY.least);
  return Math.min(Math.max(seconds, RETRY.least), RETRY.most);
}
