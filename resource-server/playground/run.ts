import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { AT_ONCE } from './at-once.ts';
import type { Charge } from './charge.ts';
import type { Exchange, Issue } from './exchange.ts';
import { type Party, readAnswer, writeRequest } from './http1-message.ts';
import type { Loopback } from './listener.ts';
import { spacePath } from './spaces.ts';
import { TOKEN_ISSUER } from './token-issuer.ts';

/** A request and its answer, as the client's socket had them. */
export interface Leg {
  readonly title: string;
  /** The party that was asked; undefined: the server. */
  readonly to: Party | undefined;
  readonly sent: Buffer;
  readonly received: Buffer;
  /** Findings of the client by the answer, in words. */
  readonly remarks: readonly string[];
}

const HOSTS: Readonly<Record<Party, string>> = { issuer: TOKEN_ISSUER };

export interface RunParts {
  readonly loopback: Loopback;
  readonly charge: Charge;
  /** The origin that the messages name (RFC 9110 section 7.2). */
  readonly origin: string;
  readonly issue: Issue;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Performs exchanges for visitors, and returns what was on the wire. */
export type Run = (
  exchange: Exchange,
  mistake: string | undefined,
  visitor: string,
) => Promise<readonly Leg[]>;

/**
 * Rejects with `HttpError` 429 if the visitor had too many exchanges lately, and 503 if the process has enough of them
 * under way.
 */
export function createRun({
  loopback,
  charge,
  origin,
  issue,
  apiKey,
  clock,
  random,
}: RunParts): Run {
  const { host } = new URL(origin);
  let underWay = 0;
  return async (exchange, mistake, visitor) => {
    await charge(visitor);
    if (underWay >= AT_ONCE) {
      const fields = { 'Retry-After': '1' };
      throw new HttpError(503, 'Other visitors use the playground now.', fields);
    }
    underWay += 1;
    try {
      const legs: (Leg & { readonly remarks: string[] })[] = [];
      await exchange.perform({
        async send(title, request) {
          const { to } = request;
          const sent = writeRequest(to === undefined ? host : HOSTS[to], request);
          const received = await loopback.send(sent, visitor);
          legs.push({ title, to, sent, received, remarks: [] });
          return readAnswer(received);
        },
        remark: (text) => legs.at(-1)?.remarks.push(text),
        target: spacePath(exchange),
        url: origin + spacePath(exchange),
        issue,
        apiKey,
        mistake,
        clock,
        random,
      });
      return legs;
    } finally {
      underWay -= 1;
    }
  };
}
