import type { Context } from 'koa';
import { cookieName } from '#shared/config/own-cookies.ts';
import type { PagesServer } from '../../base/server.ts';

const YEAR_MILLISECONDS = 31_536_000_000;

export interface LastWay {
  /** Whether the last sign-in with this browser was by a passkey. */
  wasPasskey(ctx: Context): boolean;
  remember(ctx: Context, way: 'passkey' | 'password'): void;
}

/** Remembers in a browser how somebody signed in last, but not who: the page then offers that first. */
export function createLastWay({ config }: Pick<PagesServer, 'config'>): LastWay {
  const cookie = cookieName(config, 'way');
  return {
    wasPasskey: (ctx) => ctx.cookies.get(cookie, { signed: false }) === 'passkey',

    remember(ctx, way) {
      ctx.cookies.set(cookie, way, {
        httpOnly: true,
        sameSite: 'lax',
        signed: false,
        overwrite: true,
        maxAge: YEAR_MILLISECONDS,
      });
    },
  };
}
