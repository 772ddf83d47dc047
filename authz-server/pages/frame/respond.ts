import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Answer } from '#shared/http/answer.ts';

const DONE = new WeakSet<IncomingMessage>();
const LATE = new WeakSet<IncomingMessage>();

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

/** Says that a form was done which cannot be done again: a browser that sends it once more gets the same answer. */
export function noteDone({ req }: Context): void {
  DONE.add(req);
}

export const isDone = ({ req }: Context): boolean => DONE.has(req);

/** Says of a refusal that another request was faster, perhaps the same form, whose answer may not be there yet. */
export function noteLate({ req }: Context): void {
  LATE.add(req);
}

export const isLate = ({ req }: Context): boolean => LATE.has(req);
