import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { octetsAtMost } from '#shared/http/octets-at-most.ts';

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly content?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  /** By name in lower case; several lines are joined with a comma (RFC 9110 section 5.2). */
  field(name: string): string | undefined;
  readonly content: Buffer;
}

/** Undefined when it is no JSON: what the parser says of it would quote from it. */
export function jsonOf({ content }: Reply): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    return undefined;
  }
}

/**
 * One exchange with an issuer. No redirect is followed. Rejects when there is no whole answer in time, or
 * when it is longer than 64 KiB.
 */
export type Send = (message: Message) => Promise<Reply>;

export interface SendOptions {
  /** Origin to which everything is sent, whatever origin its URL has. */
  readonly at?: string;
  /** A certificate in PEM to be trusted beside those that the process trusts. */
  readonly ca?: string | Buffer;
  /** For the whole exchange. */
  readonly milliseconds?: number;
}

const LONGEST = 65_536;
/** At a time to one origin; further requests wait for these. */
const CONNECTIONS = 16;

export function openSend({ at, ca, milliseconds = 5000 }: SendOptions = {}): Send {
  const connect = buildConnector({
    allowH2: false,
    timeout: milliseconds,
    ...(ca && { secureContext: createSecureContext({ ca: [...getCACertificates(), ca] }) }),
  });
  // Where HTTP/2 is possible, one connection is made at a time, however many wait.
  const dispatcher = new Agent({ allowH2: false, connect, connections: CONNECTIONS });

  async function exchange(message: Message, signal: AbortSignal): Promise<Reply> {
    const { method, url, fields, content } = message;
    const { origin, pathname, search } = new URL(url);
    const { statusCode, headers, body } = await request((at ?? origin) + pathname + search, {
      method,
      headers: fields,
      body: content ?? null,
      signal,
      dispatcher,
    });
    return {
      status: statusCode,
      field: (name) => headers[name]?.toString(),
      content: await octetsAtMost(LONGEST, body),
    };
  }

  return async (message) => {
    const signal = AbortSignal.timeout(milliseconds);
    // A request that waits for its connection does not look at the signal.
    return Promise.race([exchange(message, signal), ended(signal)]);
  };
}

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
