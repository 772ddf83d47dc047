import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { decrypt } from './decrypt.ts';
import { newReceiverKeys, type ReceiverKeys, sharedKeys } from './receiver-keys.ts';

type Fields = Readonly<Record<string, string>>;

export interface Subscription {
  /** The subscription resource, from which messages are received. */
  readonly url: string;
  /** The push resource, to which messages are sent. */
  readonly endpoint: string;
  readonly own: ReceiverKeys;
  /** The keys for the application server. */
  readonly keys: ReturnType<typeof sharedKeys>;
}

export interface Received {
  readonly url: string;
  readonly text: string;
}

interface ReceiveOptions {
  /** How messages are received; default: by server push. */
  readonly by?: 'events' | 'push';
  readonly fields?: Fields;
}

/** A user agent, written from RFC 8030, 8188 and 8291 alone. */
export interface UserAgent {
  /** `key`: the public key of the only application server that may send. */
  subscribe(token: string, key?: string): Promise<Subscription>;
  /**
   * Passes on a subscription's messages as they come; with server push, for one subscription at a time.
   * Resolves to the status when the server ends the answer; rejects if the answer is cut.
   */
  receive(
    subscription: Subscription,
    take: (message: Received) => void,
    options?: ReceiveOptions,
  ): Promise<number>;
  /** Deletes a message or a subscription. Resolves to the status. */
  remove(url: string): Promise<number>;
}

/** `fields` are added to each request, as a proxy would do. */
export function userAgent(
  session: ClientHttp2Session,
  origin: string,
  fields: Fields = {},
): UserAgent {
  const request = (method: string, url: string, more: Fields = {}) =>
    session.request({
      ':method': method,
      ':authority': new URL(origin).host,
      ':path': new URL(url, origin).pathname,
      ...fields,
      ...more,
    });

  async function answerTo(stream: ClientHttp2Stream, body?: string) {
    stream.end(body);
    const headers = await responseTo(stream);
    const content = await buffer(stream);
    return { status: Number(headers[':status']), headers, content };
  }

  return {
    async subscribe(token, key) {
      const options = key === undefined ? undefined : JSON.stringify({ vapid: key });
      const stream = request('POST', `${origin}/push/subscribe`, {
        authorization: `Bearer ${token}`,
        ...(options && { 'content-type': 'application/webpush-options+json' }),
      });
      const { status, headers, content } = await answerTo(stream, options);
      if (status !== 201) throw new Error(`${status} ${content.toString()}`);
      const own = newReceiverKeys();
      return {
        url: String(headers.location),
        endpoint: new URL(linkOf(headers, 'urn:ietf:params:push'), origin).href,
        own,
        keys: sharedKeys(own),
      };
    },

    async receive({ url, own }, take, { by = 'push', fields: more = {} } = {}) {
      const opened = (message: string, body: Buffer) =>
        take({ url: message, text: decrypt(own, body).toString() });
      const stream = request('GET', url, {
        ...more,
        ...(by === 'events' && { accept: 'text/event-stream' }),
      });
      const response = responseTo(stream);
      const taking =
        by === 'events'
          ? takeEvents(stream, opened)
          : takePushed(session, stream, (path, body) => opened(origin + path, body));
      const headers = await response;
      await once(stream, 'close');
      await taking;
      if (stream.rstCode !== 0) throw new Error(`the answer was cut: ${stream.rstCode}`);
      return Number(headers[':status']);
    },

    async remove(url) {
      return (await answerTo(request('DELETE', url))).status;
    },
  };
}

/** Also rejects if the stream closes without an error, as when the server dies. */
async function responseTo(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const closed = new AbortController();
  stream.once('close', () => closed.abort());
  const [headers] = await once(stream, 'response', closed);
  return headers as IncomingHttpHeaders;
}

function linkOf({ link }: IncomingHttpHeaders, relation: string): string {
  const found = [link ?? '']
    .flat()
    .join(', ')
    .matchAll(/<([^>]*)>\s*;\s*rel="([^"]*)"/g);
  return [...found].find(([, , rel]) => rel === relation)?.[1] ?? '';
}

type Opened = (message: string, body: Buffer) => void;

/** RFC 8030 section 6: each message is the answer to a request that the server promises. */
async function takePushed(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  opened: Opened,
): Promise<void> {
  const under: Promise<void>[] = [];
  const onStream = (pushed: ClientHttp2Stream, asked: IncomingHttpHeaders) => {
    under.push(buffer(pushed).then((body) => opened(String(asked[':path']), body)));
  };
  session.on('stream', onStream);
  await once(stream.resume(), 'close');
  session.off('stream', onStream);
  await Promise.all(under);
}

async function takeEvents(stream: ClientHttp2Stream, opened: Opened): Promise<void> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) {
    const blocks = (text + String(piece)).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue; // a comment line of the event stream
      const { url, body } = JSON.parse(data) as Readonly<Record<'url' | 'body', string>>;
      opened(url, Buffer.from(body, 'base64url'));
    }
  }
}
