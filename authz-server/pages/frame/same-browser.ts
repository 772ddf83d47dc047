import { createHash, createHmac } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { sameText } from '#shared/base/constant-time.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { createCsrf } from './csrf.ts';
import { expired } from './page-error.ts';
import type { PagesServer } from '../../base/server.ts';

export type Interaction = InstanceType<Provider['Interaction']>;

/** The part of an interaction's result that identifies the browser which gave the result. */
interface Submitted {
  readonly browser?: string;
  readonly form?: string;
}

export interface SameBrowser {
  /** Returns the mark of this browser, for the member `browser` of an interaction's result. */
  mark(ctx: Context): string;
  /** Whether `browser` is the mark of the browser that asks. */
  isHere(ctx: Context, browser: unknown): boolean;
  /**
   * Returns a mark of the form's content, to recognise a form that is sent again. The result of a sign-in has it as
   * `form`.
   */
  formMark(form: URLSearchParams): string;
  /**
   * Whether this browser gave the result of the interaction at this path, for a sign-in also with an equal `form`.
   * Without `form`: whether the engine has also used the result.
   */
  isRepeated(ctx: Context, form?: URLSearchParams): Promise<boolean>;
  /** Checks the browser before the engine uses the result. */
  checkResume: Middleware;
}

/**
 * Makes sure that only the browser that gave the result of an interaction can continue with it. The engine asks only
 * for a cookie, which is bound to a path and so has no `__Host-` prefix: an attacker who planted theirs in a victim's
 * browser would be signed in as the victim.
 */
export function createSameBrowser(server: PagesServer, provider: Provider): SameBrowser {
  const { browserSecret } = createCsrf(server);
  const key = derivedKey(server.master, 'countersign authz repeated form');
  const mark = (ctx: Context) =>
    createHash('sha256').update(browserSecret(ctx)).digest('base64url');
  const isHere = (ctx: Context, browser: unknown) =>
    typeof browser === 'string' && sameText(browser, mark(ctx));
  // The form also has the browser's CSRF token as a field.
  const formMark = (form: URLSearchParams) =>
    createHmac('sha256', key).update(form.toString()).digest('base64url');

  return {
    mark,
    isHere,
    formMark,

    async isRepeated(ctx, form) {
      const id = ctx.cookies.get(provider.cookieName('interaction'));
      if (id === undefined || id !== ctx['params'].uid) return false;
      const { done, result } = (await server.stores.artefacts.get('Interaction', id)) ?? {};
      const { browser, form: sent } = (result ?? {}) as Submitted;
      if (!isHere(ctx, browser)) return false;
      if (form === undefined) return done === true;
      return sent === undefined || sameText(sent, formMark(form));
    },

    async checkResume(ctx, next) {
      // The engine would take a query for the parameters of the request, which are in the interaction.
      ctx.search = '';
      const id = ctx.cookies.get(provider.cookieName('resume')) ?? '';
      const interaction = await provider.Interaction.find<Interaction>(id);
      const browser = interaction?.result?.['browser'];
      if (browser !== undefined && !isHere(ctx, browser)) throw expired();
      await next();
    },
  };
}
