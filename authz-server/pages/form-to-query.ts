import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { PageError } from './frame/page-error.ts';
import { seeOther } from './frame/respond.ts';

/** Bytes of a form; the query they become has to fit into a request line. */
const LONGEST = 8192;

/**
 * Authorization and logout requests may come as a form by POST (OpenID Connect Core 1.0 section 3.1.2.1,
 * RP-Initiated Logout 1.0 section 2). From another site that POST comes without our cookies, which are
 * SameSite=Lax; the GET that it is turned into has them.
 */
export const formToQuery: Middleware = async (ctx) => {
  if (ctx.is('application/x-www-form-urlencoded') === false) throw new PageError(415, 'request');
  const form = await readForm(ctx.req).catch(() => undefined);
  if (form === undefined) {
    ctx.set('Connection', 'close');
    throw new PageError(413, 'request');
  }
  seeOther(ctx, `${ctx.path}?${form}`);
};

/** As a query, with what may not stand in one encoded. Undefined: too long. Rejects when it was cut off. */
async function readForm(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream stays open, so that a refusal can still be sent.
  const content: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of content) {
    length += chunk.length;
    if (length > LONGEST) return undefined;
    chunks.push(chunk);
  }
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  return query.length > LONGEST ? undefined : query;
}
