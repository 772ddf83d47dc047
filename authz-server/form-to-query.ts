import type { Context, Next } from 'koa';

/** Bytes of a form; the query they become has to fit into a request line. */
const LONGEST = 8192;
const PATHS = new Set(['/auth', '/session/end']);

/**
 * Authorization and logout requests may come as a form by POST (OpenID Connect Core 1.0 section 3.1.2.1,
 * RP-Initiated Logout 1.0 section 2). From another site that POST comes without our cookies, which are
 * SameSite=Lax; the GET that it is turned into has them.
 */
export async function formToQuery(ctx: Context, next: Next): Promise<void> {
  if (ctx.method !== 'POST' || !PATHS.has(ctx.path)) return next();
  if (ctx.is('application/x-www-form-urlencoded') === false) return refuse(ctx, 415, 'not a form');
  const form = await readForm(ctx).catch(() => undefined);
  if (form === undefined) return refuse(ctx, 413, `a form here has at most ${LONGEST} bytes`);
  ctx.status = 303;
  ctx.set({ Location: `${ctx.path}?${form}`, 'Cache-Control': 'no-store' });
}

/** As a query, with what may not stand in one encoded. Undefined: too long. Rejects when it was cut off. */
async function readForm(ctx: Context): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream stays open, so that a refusal can still be sent.
  const content: AsyncIterable<Buffer> = ctx.req.iterator({ destroyOnReturn: false });
  for await (const chunk of content) {
    length += chunk.length;
    if (length > LONGEST) return undefined;
    chunks.push(chunk);
  }
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  return query.length > LONGEST ? undefined : query;
}

function refuse(ctx: Context, status: number, description: string): void {
  ctx.status = status;
  ctx.set('Connection', 'close');
  ctx.body = { error: 'invalid_request', error_description: description };
}
