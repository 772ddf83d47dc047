import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { pipeline } from 'node:stream/promises';

export interface TellingFrontOptions {
  /** Of the loopback interface. */
  readonly port: number;
  /** In PEM. */
  readonly certificate: { readonly key: string; readonly cert: string };
  /** Origin that requests go on to, in clear text. */
  readonly upstream: string;
  /**
   * Fields that are this front's alone, by name, and what it says in each of a request, if anything. What a client
   * writes into them does not go on, nor what an underscore makes look like them.
   */
  readonly tells: Readonly<Record<string, (request: IncomingMessage) => string | undefined>>;
}

/** About the connection, which ends here (RFC 9110 section 7.6.1). */
const HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade']);

/** Ends TLS and hands on what comes over HTTP/1.1, with what only the end of a connection can tell of it. */
export async function startTellingFront(options: TellingFrontOptions): Promise<AsyncDisposable> {
  const { port, certificate, upstream, tells } = options;
  const own = new Set(Object.keys(tells).map(plainName));
  const server = createServer(certificate, (request, response) => {
    const kept = pairs(request.rawHeaders).filter(
      ([name]) => !own.has(plainName(name)) && !HOP.has(name.toLowerCase()),
    );
    const told = Object.entries(tells).flatMap(([name, tell]) => {
      const value = tell(request);
      return value === undefined ? [] : [[name, value] as const];
    });
    handOn(request, response, upstream, [...kept, ...told].flat());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function handOn(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: string,
  headers: readonly string[],
): void {
  const { hostname, port } = new URL(upstream);
  const { method, url: path } = request;
  const passed = httpRequest({ agent: false, hostname, port, method, path, headers });
  passed.on('response', (answer) => {
    const { statusCode = 502, statusMessage, rawHeaders } = answer;
    const fields = pairs(rawHeaders).filter(([name]) => !HOP.has(name.toLowerCase()));
    response.writeHead(statusCode, statusMessage, fields.flat());
    void pipeline(answer, response).catch(() => response.destroy());
  });
  passed.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  void pipeline(request, passed).catch(() => passed.destroy());
}

const plainName = (name: string) => name.toLowerCase().replaceAll('_', '-');

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}
