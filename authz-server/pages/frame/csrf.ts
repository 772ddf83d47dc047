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
/** The fields that a form may have more than once. */
const REPEATED: ReadonlySet<string> = new Set(['item']);

/** Forms by the request, whose content can be read once. */
const READ = new WeakMap<IncomingMessage, Promise<URLSearchParams>>();
/** Secrets of browsers that had none, by the request that they are made for: an answer has one, however many forms. */
const MADE = new WeakMap<IncomingMessage, string>();

export interface Csrf {
  /** Returns the value of the forms' `csrf` field, which follows from the secret of the browser and does not tell it. */
  csrfToken(ctx: Context): string;
  /**
   * Returns what this browser alone knows: the value of its cookie, which no page and no form has. Sets the cookie if the
   * browser has none.
   */
  browserSecret(ctx: Context): string;
  /** Whether the browser has sent a secret of ours. */
  hasSecret(ctx: Context): boolean;
  /**
   * The form of a POST that a page of ours sent. Throws `PageError`: 415 another media type, 413 longer
   * than 16 KiB, 400 a duplicated field, 403 without this browser's token or from another origin, such as
   * 127.0.0.1 for localhost: that page leads to ours. `repeated`: the fields that it may have more than once.
   */
  checkForm(ctx: Context, repeated?: ReadonlySet<string>): Promise<URLSearchParams>;
}

/**
 * A form is sent by a page of ours if its Origin says so, and it has the token that follows from the cookie of the browser. The
 * cookie is signed: without the prefix `__Host-` others may set one, but none that they made up.
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

  /** Undefined: the browser has none of ours. */
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

async function readForm(ctx: Context): Promise<URLSearchParams> {
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
