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

/** Redirects after a form was handled: the browser continues with GET (RFC 9110 section 15.4.4). */
export function seeOther(ctx: Context, location: string): void {
  answerWith(ctx, {
    status: 303,
    fields: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' },
  });
}

/** Notes that a form was handled which works only once. If the browser sends it again, it gets the same answer. */
export function noteDone({ req }: Context): void {
  DONE.add(req);
}

export const isDone = ({ req }: Context): boolean => DONE.has(req);

/**
 * Notes that a request was refused since another request was faster. That may have been the same form, whose answer is
 * perhaps not stored yet.
 */
export function noteLate({ req }: Context): void {
  LATE.add(req);
}

export const isLate = ({ req }: Context): boolean => LATE.has(req);
