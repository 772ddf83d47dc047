import type { Context } from 'koa';
import type { Answer } from '#shared/http/answer.ts';

/** Answers with a page. */
export function answerWith(ctx: Context, { status, fields, body }: Answer): void {
  ctx.status = status;
  for (const [name, value] of Object.entries(fields)) ctx.res.setHeader(name, value);
  ctx.body = body ?? '';
}

/** After a form was done: the browser goes on by GET (RFC 9110 section 15.4.4). */
export function seeOther(ctx: Context, location: string): void {
  answerWith(ctx, {
    status: 303,
    fields: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' },
  });
}
