import { type Dispatcher, request } from 'undici';
import { isLoopback } from '#shared/config/production.ts';
import { octetsAtMost } from '#shared/http/octets-at-most.ts';
import { Failure } from '../command.ts';

export interface Message {
  readonly method: string;
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  /** By name in lower case; several lines are joined with a comma (RFC 9110 section 5.2). */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** There was no answer: the connection was refused or lost, or it took too long. */
export class NoAnswer extends Failure {}

/** Sends one message; never follows a redirect. Throws `NoAnswer`. */
export type Send = (message: Message) => Promise<Answer>;

const TIMEOUT = 30_000;
const LONGEST = 256 * 1024 * 1024;

export const send = sender();

/** Over the connections of `dispatcher`; default: those of the process. */
export function sender(dispatcher?: Dispatcher): Send {
  return async ({ method, url, fields, body }) => {
    try {
      const answer = await request(url, {
        method,
        headers: { 'user-agent': 'countersign', ...fields },
        ...(body !== undefined && { body }),
        ...(dispatcher && { dispatcher }),
        headersTimeout: TIMEOUT,
        bodyTimeout: TIMEOUT,
      });
      return {
        status: answer.statusCode,
        fields: joinLines(answer.headers),
        body: await octetsAtMost(LONGEST, answer.body),
      };
    } catch (error) {
      throw new NoAnswer(`no answer from ${new URL(url).origin}: ${reason(error)}`);
    }
  };
}

/** Codes of OpenSSL and Node for a certificate that is not trusted. */
const UNTRUSTED = /^(?:SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const advice = UNTRUSTED.test(code) ? '; NODE_EXTRA_CA_CERTS names further CAs to trust' : '';
  return (message || code) + advice;
}

/**
 * A URL that secrets and tokens may be sent to: https, or http on loopback; without user and fragment.
 * Undefined when it is another.
 */
export function parseSafeUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || text.includes('#'))
    return undefined;
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe ? url : undefined;
}

/** The answer's body as a JSON object; throws `Failure` when it is something else. */
export function jsonObject({ body }: Answer, from: string): Readonly<Record<string, unknown>> {
  const value = parseJson(body.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure(`${from} did not answer with a JSON object`);
  }
  return { ...value };
}

/** Seconds, as they were written; undefined when the answer does not say (RFC 9110 section 10.2.3). */
export function retryAfter({ fields }: Answer): string | undefined {
  return /^\d{1,9}$/.exec(fields['retry-after'] ?? '')?.[0];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function joinLines(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, lines]) => [
      name.toLowerCase(),
      [lines ?? []].flat().join(', '),
    ]),
  );
}
