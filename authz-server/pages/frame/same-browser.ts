import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { sameText } from '#shared/base/constant-time.ts';
import { createCsrf } from './csrf.ts';
import { expired } from './page-error.ts';
import type { PagesServer } from '../../base/server.ts';

export type Interaction = InstanceType<Provider['Interaction']>;

export interface SameBrowser {
  /** Kept in the result of an interaction as `browser`. */
  mark(ctx: Context): string;
  /** Before the engine takes up the result. */
  checkResume: Middleware;
}

/**
 * Makes sure that the browser which takes up the result of an interaction is the one that gave it. The engine asks
 * only for a cookie, which is bound to a path and so has no `__Host-` prefix: an attacker who planted theirs in a
 * victim's browser would be signed in as the victim.
 */
export function createSameBrowser(server: PagesServer, provider: Provider): SameBrowser {
  const { csrfToken } = createCsrf(server);
  const mark = (ctx: Context) => createHash('sha256').update(csrfToken(ctx)).digest('base64url');

  return {
    mark,
    async checkResume(ctx, next) {
      // The engine would take a query for the parameters of the request, which are in the interaction.
      ctx.search = '';
      const id = ctx.cookies.get(provider.cookieName('resume')) ?? '';
      const interaction = await provider.Interaction.find<Interaction>(id);
      const browser = interaction?.result?.['browser'];
      if (typeof browser === 'string' && !sameText(browser, mark(ctx))) throw expired();
      await next();
    },
  };
}
