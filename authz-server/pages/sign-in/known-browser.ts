import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { sameText } from '#shared/base/constant-time.ts';
import { randomId } from '#shared/base/random.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookieName } from '#shared/config/own-cookies.ts';
import type { PagesServer } from '../../base/server.ts';

/** So many people of one browser are remembered, the latest. */
const MOST_PEOPLE = 8;
const YEAR_MILLISECONDS = 31_536_000_000;

export interface KnownBrowser {
  /** Identifies the browser when somebody of that name has signed in with it before. */
  known(ctx: Context, name: string): string | undefined;
  remember(ctx: Context, name: string): void;
}

/**
 * Browsers in which a person has signed in before keep their own count of attempts, so that nobody can
 * lock the person out there. The cookie is a random id, and for each person a MAC over it and the name.
 */
export function createKnownBrowser({
  config,
  master,
  random,
}: Pick<PagesServer, 'config' | 'master' | 'random'>): KnownBrowser {
  const cookie = cookieName(config, 'known');
  const key = derivedKey(master, 'countersign authz known browser');
  const markOf = (id: string, name: string) =>
    createHmac('sha256', key).update(`${id} ${name}`).digest('base64url');
  const read = (ctx: Context) => {
    const [id = '', ...marks] = (ctx.cookies.get(cookie) ?? '').split('.');
    return { id, marks };
  };

  return {
    known(ctx, name) {
      const { id, marks } = read(ctx);
      const mark = markOf(id, name);
      return marks.some((one) => sameText(one, mark)) ? id : undefined;
    },

    remember(ctx, name) {
      const { id, marks } = read(ctx);
      const kept = id === '' ? randomId(random) : id;
      const mark = markOf(kept, name);
      const all = [mark, ...marks.filter((one) => one !== mark)].slice(0, MOST_PEOPLE);
      ctx.cookies.set(cookie, [kept, ...all].join('.'), {
        httpOnly: true,
        sameSite: 'lax',
        overwrite: true,
        maxAge: YEAR_MILLISECONDS,
      });
    },
  };
}
