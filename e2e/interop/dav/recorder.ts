/** An HTTP/1.1 relay that records all exchanges between a client and the server. */
import { once } from 'node:events';
import { Agent, createServer, request as send } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

export interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly asked: IncomingHttpHeaders;
  readonly status: number;
  readonly answered: IncomingHttpHeaders;
}

export type Redirect = readonly [status: number, location: string];

export interface Recorder extends AsyncDisposable {
  /** All exchanges, in the order of their answers. */
  readonly exchanges: readonly Exchange[];
}

/** Relays requests to `upstream`. A target with a redirect gets that redirect. */
export async function startRecorder(
  port: number,
  upstream: string,
  redirects: ReadonlyMap<string, Redirect>,
): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const agent = new Agent({ keepAlive: true });

  function record(message: IncomingMessage, status: number, answered: IncomingHttpHeaders): void {
    const { method = '', url: target = '', headers: asked } = message;
    exchanges.push({ method, target, asked, status, answered });
  }

  function redirect(message: IncomingMessage, response: ServerResponse, to: Redirect): void {
    const [status, location] = to;
    record(message, status, { location });
    message.resume();
    response.writeHead(status, { location, 'content-length': 0 }).end();
  }

  async function relay(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers, rawHeaders } = message;
    const framed = headers['content-length'] ?? headers['transfer-encoding'];
    const outgoing = send(new URL(upstream), {
      method,
      path: url,
      agent,
      headers: framed === undefined ? [...rawHeaders, 'Content-Length', '0'] : rawHeaders,
    });
    response.once('close', () => outgoing.destroy());
    const uploaded = pipeline(message, outgoing).catch(() => undefined);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const { statusCode = 0 } = answer;
    record(message, statusCode, answer.headers);
    response.writeHead(statusCode, answer.rawHeaders);
    await pipeline(answer, response);
    await uploaded;
  }

  const server = createServer((message, response) => {
    const to = redirects.get(message.url ?? '');
    if (to) redirect(message, response, to);
    else relay(message, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    exchanges,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
