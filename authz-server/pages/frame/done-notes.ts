import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { isWithin } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from './csrf.ts';

/** How long a page may say that something was done, in seconds. */
const LIFE = 300;

export interface DoneNotes {
  /** Returns the address of a page, with a note that `what` was done. */
  address(ctx: Context, path: string, what: string): string;
  /** Returns what the note of the address says; undefined: this server has not written it for this browser lately. */
  read(ctx: Context): string | undefined;
}

/**
 * Carries what was done to the page that says so. A link from elsewhere must not make a page say that a password was
 * changed: so the note is signed, for one page, for the browser that knows its CSRF cookie, and for five minutes.
 */
export function createDoneNotes(
  server: Pick<PagesServer, 'config' | 'master' | 'random' | 'clock'>,
): DoneNotes {
  const { clock, config, master } = server;
  const { browserSecret } = createCsrf(server);
  const key = derivedKey(master, 'countersign authz done note');

  function signed(ctx: Context, path: string, what: string, at: number): string {
    const signature = createHmac('sha256', key)
      .update(JSON.stringify([path, what, at, browserSecret(ctx)]))
      .digest('base64url');
    return `${what}.${at}.${signature}`;
  }

  return {
    address: (ctx, path, what) =>
      `${path}?${new URLSearchParams({ done: signed(ctx, path, what, clock.now()) }).toString()}`,

    read(ctx) {
      const note = new URLSearchParams(ctx.querystring).get('done') ?? '';
      const [, what = '', time = ''] = /^([a-z-]{1,20})\.(\d{1,16})\./.exec(note) ?? [];
      const at = Number(time);
      const { skew } = config.tokens;
      if (what === '' || !isWithin(clock, at, { life: LIFE, skew })) return undefined;
      return sameText(note, signed(ctx, ctx.path, what, at)) ? what : undefined;
    },
  };
}
