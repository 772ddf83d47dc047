import { once } from 'node:events';
import http, {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import supertest from 'supertest';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternately, as received. */
  readonly raw: readonly string[];
  readonly text: string;
}

export interface Call {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer | Readable;
}

const agent = new http.Agent({ keepAlive: true });

/**
 * Fields for which node:http is used: supertest adds Content-Length, and sets fields again after Expect has sent
 * them.
 */
const FOR_NODE: ReadonlySet<string> = new Set(['transfer-encoding', 'expect']);

/** Sends a request exactly as given: the path is not normalized, and only Host is added. */
export async function ask(
  port: number,
  method: string,
  path: string,
  call: Call = {},
): Promise<Reply> {
  const { headers = {}, body } = call;
  const special = Object.keys(headers).some((name) => FOR_NODE.has(name.toLowerCase()));
  if (special || body instanceof Readable) return askByNode(port, method, path, call);
  const url = path.startsWith('/') ? path : '/';
  const request = new supertest.Test(`http://127.0.0.1:${port}`, method, url)
    .agent(agent)
    .on('request', ({ req }: { readonly req: ClientRequest }) => {
      req.path = path;
      // After the response an error makes reading of the content reject.
      req.once('response', () => req.removeAllListeners('error').on('error', () => {}));
    })
    .parse((response, done) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(null, Buffer.concat(chunks)));
    });
  if (body !== undefined) request.send(body).serialize((content: string) => content);
  request.unset('Accept-Encoding').unset('Content-Type');
  request.set(headers as IncomingHttpHeaders);
  const { res, body: content } = (await request) as unknown as {
    readonly res: IncomingMessage;
    readonly body: unknown;
  };
  res.resume(); // HEAD
  return replyOf(res, Buffer.isBuffer(content) ? content.toString() : '');
}

const replyOf = (
  { statusCode: status = 0, headers, rawHeaders: raw }: IncomingMessage,
  text: string,
): Reply => ({ status, headers, raw, text });

/**
 * Sends the request by node:http, for content in pieces, too: supertest sees an answer only after it has sent all
 * content.
 */
async function askByNode(
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: Call,
): Promise<Reply> {
  const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent });
  if (body instanceof Readable) body.pipe(request);
  else request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => {}); // the error makes reading of the content reject
  return replyOf(response, (await buffer(response)).toString());
}
