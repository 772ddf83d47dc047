/** The common parts of the applications. */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

export const HINT = { link: '</base/style.css>; rel=preload; as=style' };
export const TRAILER = { 'X-Checksum': 'abc' };
export const LONG = 'A text that gzip makes shorter. '.repeat(1000);

/** A request as an application saw it. */
export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly trailers: readonly (readonly [name: string, value: string])[];
  /** The content in base64. */
  readonly content: string;
}

export async function echoOf(request: IncomingMessage, url: string): Promise<Echo> {
  const { method = '' } = request;
  const content = await buffer(request);
  return {
    method,
    url,
    fields: pairs(request.rawHeaders),
    trailers: pairs(request.rawTrailers),
    content: content.toString('base64'),
  };
}

function pairs(raw: readonly string[]) {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
}
