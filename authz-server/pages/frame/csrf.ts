import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { sameText } from '#shared/base/constant-time.ts';
import { randomId } from '#shared/base/random.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookieName } from '#shared/config/own-cookies.ts';
import { expired, PageError } from './page-error.ts';
import type { PagesServer } from '../../base/server.ts';
import { TO_ACCOUNT } from './way-back.ts';

const LONGEST_FORM = 16 * 1024;
const FORM = 'application/x-www-form-urlencoded';
/** Fields that a form may repeat. */
const REPEATED: ReadonlySet<string> = new Set(['item']);

/** The form of each request, since the content of a request can be read only once. */
const READ = new WeakMap<IncomingMessage, Promise<URLSearchParams>>();
/** New secrets for browsers without one, by request, so that all forms of an answer share one secret. */
const MADE = new WeakMap<IncomingMessage, string>();

export interface Csrf {
  /** Returns the value of the field `csrf` in forms. It is derived from the browser's secret and does not reveal it. */
  csrfToken(ctx: Context): string;
  /**
   * Returns the secret of this browser: the value of a cookie, which no page or form contains. Sets the cookie if the
   * browser has none.
   */
  browserSecret(ctx: Context): string;
  /** Whether the browser has sent a secret of ours. */
  hasSecret(ctx: Context): boolean;
  /**
   * The form of a POST that a page of ours sent. Throws `PageError`: 415 another media type, 413 longer than 16 KiB,
   * 400 a duplicated field, 403 without this browser's token or from another origin, such as 127.0.0.1 for localhost
   * (that error page links to ours). `repeated`: fields that the form may repeat.
   */
  checkForm(ctx: Context, repeated?: ReadonlySet<string>): Promise<URLSearchParams>;
}

/**
 * Accepts a form as sent by our own page if its `Origin` is ours and its token is derived from the browser's cookie.
 * The cookie is signed: without the prefix `__Host-` other hosts may set a cookie, but cannot invent its value.
 */
export function createCsrf({
  config,
  master,
  random,
}: Pick<PagesServer, 'config' | 'master' | 'random'>): Csrf {
  const cookie = cookieName(config, 'csrf');
  const key = derivedKey(master, 'countersign authz csrf');
  const formKey = derivedKey(master, 'countersign authz form token');
  const tokenOf = (secret: string) =>
    createHmac('sha256', formKey).update(secret).digest('base64url');
  const signed = (id: string) =>
    `${id}.${createHmac('sha256', key).update(id).digest('base64url')}`;

  /** Returns the browser's secret. Undefined: it sent none of ours. */
  function known(ctx: Context): string | undefined {
    const token = ctx.cookies.get(cookie) ?? '';
    const [id = ''] = token.split('.');
    return sameText(token, signed(id)) ? token : undefined;
  }

  function browserSecret(ctx: Context): string {
    const before = known(ctx) ?? MADE.get(ctx.req);
    if (before !== undefined) return before;
    const secret = signed(randomId(random));
    MADE.set(ctx.req, secret);
    ctx.cookies.set(cookie, secret, { httpOnly: true, sameSite: 'lax', overwrite: true });
    return secret;
  }

  return {
    browserSecret,
    csrfToken: (ctx) => tokenOf(browserSecret(ctx)),
    hasSecret: (ctx) => known(ctx) !== undefined,

    async checkForm(ctx, repeated = REPEATED) {
      const { origin } = ctx.req.headers;
      if (origin !== undefined && origin !== config.issuer) {
        throw expired({ ...TO_ACCOUNT, href: config.issuer + TO_ACCOUNT.href }, 403);
      }
      const read = READ.get(ctx.req) ?? readForm(ctx);
      READ.set(ctx.req, read);
      const form = await read;
      const names = [...form.keys()].filter((name) => !repeated.has(name));
      if (new Set(names).size < names.length) throw new PageError(400, 'request');
      const secret = known(ctx);
      if (secret === undefined || !sameText(form.get('csrf') ?? '', tokenOf(secret))) {
        throw expired(undefined, 403);
      }
      return form;
    },
  };
}

/**
 * Reads a form of at most 16 KiB that no page of ours sent. Throws `PageError`: 415 another media type, 413 longer, 400
 * cut off.
 */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!ctx.is(FORM)) throw new PageError(415, 'request');
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream stays open, so that a refusal can still be sent.
  const content: AsyncIterable<Buffer> = ctx.req.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of content) {
      length += chunk.length;
      if (length > LONGEST_FORM) break;
      chunks.push(chunk);
    }
  } catch {
    throw new PageError(400, 'request');
  }
  if (length > LONGEST_FORM) {
    ctx.set('Connection', 'close');
    throw new PageError(413, 'request');
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
