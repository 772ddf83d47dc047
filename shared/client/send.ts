import { Refused, said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';
import type { Client, ClientOptions } from './client.ts';

export interface Message {
  readonly method: string;
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  /** Fields by name in lower case; several lines are joined with a comma (RFC 9110 section 5.2). */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Thrown without a complete answer: no server answered, its certificate is not trusted, or the answer was too slow or
 * too long.
 */
export class NoAnswer extends Refused {
  override readonly name = 'NoAnswer';
}

/** Thrown by this program's own rules for an exchange, with the words for `NoAnswer`. */
export class NotTaken extends Refused {
  override readonly name = 'NotTaken';
}

/** Sends a message and resolves to its answer; no redirect is followed. Rejects with `NoAnswer`. */
export type Send = (message: Message) => Promise<Reply>;

/** A `Send` with connections of its own; disposing of it closes them. */
export type OwnSend = Send & AsyncDisposable;

export interface SendOptions extends Pick<ClientOptions, 'ca'> {
  /** The origin to which all messages are sent, whatever the origin in their URLs. */
  readonly at?: string;
  /** Milliseconds for the whole exchange; Infinity: no limit while data arrives at least every 30 seconds. */
  readonly milliseconds?: number;
  /** Most octets of content that are accepted. */
  readonly most?: number;
}

/** Loads the client with the first message: most servers never send one, and so start 0.15 s sooner. */
const openClient = async (options: ClientOptions): Promise<Client> =>
  (await import('./client.ts')).openClient(options);

export function openSend(options: SendOptions = {}): OwnSend {
  const { at, milliseconds = 5000, most = 65_536 } = options;
  let client: Promise<Client> | undefined;

  const exchange = (over: Client, message: Message, signal: AbortSignal | null) =>
    exchangeOver(over, message, { at, most, signal });

  async function inTime(message: Message): Promise<Reply> {
    // Loading the client does not use up the time of the server that is asked.
    const opened = await (client ??= openClient({ ...options, milliseconds }));
    if (milliseconds === Infinity) return exchange(opened, message, null);
    const signal = AbortSignal.timeout(milliseconds);
    // undici ignores the signal while a request waits for its connection, so the signal is watched here, too.
    return Promise.race([exchange(opened, message, signal), ended(signal)]);
  }

  const send: Send = (message) =>
    inTime(message).catch((error: unknown) => {
      throw noAnswer(message, error);
    });
  return Object.assign(send, {
    [Symbol.asyncDispose]: async () => (await client)?.dispatcher.destroy(),
  });
}

interface ExchangeOptions {
  readonly at?: string | undefined;
  readonly most: number;
  readonly signal: AbortSignal | null;
}

/** Sends a message on the connections of a client. */
export async function exchangeOver(
  { dispatcher, request }: Pick<Client, 'dispatcher' | 'request'>,
  message: Message,
  { at, most, signal }: ExchangeOptions,
): Promise<Reply> {
  const { method, url, fields, body = null } = message;
  const { origin, pathname, search } = new URL(url);
  const {
    statusCode,
    headers,
    body: content,
  } = await request((at ?? origin) + pathname + search, {
    method,
    headers: { 'user-agent': 'countersign', ...fields },
    body,
    signal,
    dispatcher,
  });
  const lines = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    status: statusCode,
    fields: Object.fromEntries(lines),
    body: await octetsAtMost(most, content),
  };
}

export function noAnswer({ url }: Message, error: unknown): NoAnswer {
  const { origin } = new URL(url);
  return new NoAnswer(said('no-answer', { server: origin, why: whyNot(error) }), { cause: error });
}

/** Rejects once the signal aborts. */
export function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

async function octetsAtMost(most: number, content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > most) throw new NotTaken(said('network-long', { most }));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Codes of OpenSSL and Node for a certificate that is not trusted. */
const UNTRUSTED = /^(?:SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;

/** Codes of look-ups that found no address of a name. */
const NAMELESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA']);

/** Codes of Node and undici for a connection that could not be opened, or that ended before the answer. */
const CONNECTION = /^E(?:CONN|HOST|NET|PIPE|ADDR)|^UND_ERR_(?:CONNECT|SOCKET)/;

/** Codes of undici for an exchange that took too long. */
const SLOW = /^ETIMEDOUT$|^UND_ERR_\w+_TIMEOUT$/;

/** Returns the words for an error of the network, by its class and code. */
function whyNot(error: unknown): Words {
  if (error instanceof NotTaken) return error.words;
  const { name, code: given, message } = error as NodeJS.ErrnoException;
  const code = typeof given === 'string' ? given : '';
  if (name === 'TimeoutError' || SLOW.test(code)) return said('network-time');
  const detail = message || code;
  if (UNTRUSTED.test(code)) return said('network-untrusted', { detail });
  if (NAMELESS.has(code)) return said('network-name', { detail });
  if (CONNECTION.test(code)) return said('network-connection', { detail });
  return said('network-other', { detail });
}

/**
 * Returns the JSON of an answer; undefined if it is none. The parser's error is dropped, since it would quote the
 * content.
 */
export function jsonOf({ body }: Pick<Reply, 'body'>): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
