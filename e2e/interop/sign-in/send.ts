import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Call {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The Set-Cookie lines. */
  readonly cookies: readonly string[];
  readonly text: string;
}

/** Sends a request with exactly these fields. */
export async function send(url: string, call: Call = {}): Promise<Reply> {
  const request = http.request(url, call);
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { statusCode: status = 0, headers } = response;
  return { status, headers, cookies: headers['set-cookie'] ?? [], text: await text(response) };
}
