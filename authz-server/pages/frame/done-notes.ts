import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { isWithin } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from './csrf.ts';

/** Seconds for which a page may say that a change was made. */
const LIFE = 300;

export interface DoneNotes {
  /** Returns the URL of a page, with a signed note that `what` was done. */
  address(ctx: Context, path: string, what: string): string;
  /**
   * Returns what the note in the URL says. Undefined: this server has not made the note for this browser in the last
   * five minutes.
   */
  read(ctx: Context): string | undefined;
}

/**
 * Passes a note about a change to the page that is shown next. A link from elsewhere must not make a page say that a
 * password was changed. So the note is signed for one page and for the browser with its CSRF cookie, and valid for five
 * minutes.
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
