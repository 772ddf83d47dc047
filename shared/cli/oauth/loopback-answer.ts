import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sameText } from '#shared/base/constant-time.ts';

/** Waits for the answer of an authorization server at this machine (RFC 8252 section 7.3). */
export interface LoopbackAnswer extends AsyncDisposable {
  /** The redirect URI with the port that was free. */
  readonly redirectUri: string;
  /** Returns the parameters of the answer with the right state. Undefined until the answer has arrived. */
  received(): URLSearchParams | undefined;
}

const FIELDS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  Connection: 'close',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const DONE =
  'The command line has the answer. You can close this page.\nDie Kommandozeile hat die Antwort. Diese Seite kann geschlossen werden.\n';

/**
 * Listens at the host and path of `uri`, on a free loopback port. A request without the right `state` is ignored, since
 * any page or program on this machine can send it (RFC 9700 section 4.7). The first answer is kept.
 */
export async function listenForAnswer(uri: URL, state: string): Promise<LoopbackAnswer> {
  let answer: URLSearchParams | undefined;
  const end = (response: ServerResponse, status: number, text: string) =>
    response.writeHead(status, FIELDS).end(text);
  const server = createServer((request, response) => {
    const asked = URL.parse(request.url ?? '', uri.origin);
    if (asked?.pathname !== uri.pathname) return end(response, 404, 'Not found\n');
    if (request.method !== 'GET') {
      return response.writeHead(405, { ...FIELDS, Allow: 'GET' }).end();
    }
    const states = asked.searchParams.getAll('state');
    if (states.length !== 1 || !sameText(states[0] ?? '', state)) {
      return end(response, 400, 'This is not the answer that was asked for.\n');
    }
    answer ??= asked.searchParams;
    return end(response, 200, DONE);
  });
  await once(server.listen(0, uri.hostname.replaceAll(/[[\]]/g, '')), 'listening');
  const redirect = new URL(uri);
  redirect.port = String((server.address() as AddressInfo).port);
  return {
    redirectUri: redirect.href,
    received: () => answer,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}
