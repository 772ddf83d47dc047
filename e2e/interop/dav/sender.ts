/** Sends handwritten requests with the fields that a client is known to send. */
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { DavSite } from './dav-site.ts';

export interface Reply {
  readonly status: number;
  readonly fields: IncomingHttpHeaders;
  readonly text: string;
}

export type Fields = Readonly<Record<string, string>>;

export type Sender = (
  method: string,
  target: string,
  fields?: Fields,
  content?: string | Readable,
) => Promise<Reply>;

/** Basic credentials (RFC 7617) in UTF-8. */
export const basic = (name: string, password: string): Fields => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

/** Opens a sender over TLS, which closes with `parts`. */
export async function overTls(
  site: DavSite,
  always: Fields,
  parts: AsyncDisposableStack,
): Promise<Sender> {
  const ca = await readFile(site.certificate);
  const dispatcher = new Agent({ connect: { ca } });
  parts.defer(() => dispatcher.close());
  return async (method, target, fields = {}, content = '') => {
    const { statusCode, headers, body } = await request(`${site.pair.resourceTls}${target}`, {
      method,
      dispatcher,
      headers: { ...always, ...fields },
      ...(content !== '' && { body: content }),
    });
    return { status: statusCode, fields: headers, text: await body.text() };
  };
}
