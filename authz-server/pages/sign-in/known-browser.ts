import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import { sameText } from '#shared/base/constant-time.ts';
import { randomId } from '#shared/base/random.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookieName } from '#shared/config/own-cookies.ts';
import type { PagesServer } from '../../base/server.ts';

/** The most proofs that a browser remembers, the latest first: a name and a second factor for each of eight people. */
const MOST_PROOFS = 16;
const YEAR_MILLISECONDS = 31_536_000_000;

/** The proof that a sign-in in this browser used: the person's name, or the id of one set-up of the second factor. */
export type Proof = string | { readonly secondFactor: string };

export interface KnownBrowser {
  /** Returns the browser's id if a sign-in in this browser has used the proof before. */
  known(ctx: Context, proof: Proof): string | undefined;
  /** Pass all proofs of one sign-in: a second call replaces the proofs of the first. */
  remember(ctx: Context, ...proofs: readonly Proof[]): void;
}

/**
 * Browsers in which a person has signed in before have a limit of attempts of their own, so that an attacker elsewhere
 * cannot lock the person out. The cookie is a random id, and for each proof a MAC over it and the proof.
 */
export function createKnownBrowser({
  config,
  master,
  random,
}: Pick<PagesServer, 'config' | 'master' | 'random'>): KnownBrowser {
  const cookie = cookieName(config, 'known');
  const key = derivedKey(master, 'countersign authz known browser');
  const markOf = (id: string, proof: Proof) => {
    // A name has no space, so it cannot be confused with a second factor.
    const text = typeof proof === 'string' ? proof : ` second factor ${proof.secondFactor}`;
    return createHmac('sha256', key).update(`${id} ${text}`).digest('base64url');
  };
  const read = (ctx: Context) => {
    const [id = '', ...marks] = (ctx.cookies.get(cookie) ?? '').split('.');
    return { id, marks };
  };

  return {
    known(ctx, proof) {
      const { id, marks } = read(ctx);
      const mark = markOf(id, proof);
      return marks.some((one) => sameText(one, mark)) ? id : undefined;
    },

    remember(ctx, ...proofs) {
      const { id, marks } = read(ctx);
      const kept = id === '' ? randomId(random) : id;
      const fresh = proofs.map((proof) => markOf(kept, proof));
      const all = [...new Set([...fresh, ...marks])].slice(0, MOST_PROOFS);
      ctx.cookies.set(cookie, [kept, ...all].join('.'), {
        httpOnly: true,
        sameSite: 'lax',
        overwrite: true,
        maxAge: YEAR_MILLISECONDS,
      });
    },
  };
}
