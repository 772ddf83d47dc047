import { createHmac } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { sameText } from '#shared/base/constant-time.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { PagesServer } from '../base/server.ts';
import { createCsrf } from './frame/csrf.ts';
import { PageError } from './frame/page-error.ts';
import { answerWith, isDone, isLate } from './frame/respond.ts';
import { soon } from './frame/soon.ts';
import { frameOf } from './frame/view-of.ts';
import { createGivenAgain, type Given, KEPT } from './given-again.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import { errorPage } from './views/error.ts';

const KIND = 'FormAnswer';

/** Whether a client has already used the result of the page at this URL. */
type IsUsed = (ctx: Context) => Promise<boolean>;

/**
 * Forms of our pages that work only once. If a browser on a slow line sends such a form again, it gets the first answer
 * again. The server keeps that answer for 30 s, sealed with the browser's secret.
 */
export function createSentAgain(server: PagesServer, provider: Provider) {
  const { master, random } = server;
  const { artefacts } = server.stores;
  const { checkForm, browserSecret, hasSecret } = createCsrf(server);
  const { sessionAfter } = createBrowserSessions(server, provider);
  const { givenBy, cookiesAgain, keepBy } = createGivenAgain(server, provider);
  const key = derivedKey(master, 'countersign authz form sent again');
  const markOf = (...parts: readonly string[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
  /** The id of the stored answer. A browser has one stored answer for each page, whichever forms it sends there. */
  const idOf = (ctx: Context) => markOf(ctx.path, browserSecret(ctx));
  const purpose = (ctx: Context, id: string) => `answer to a form ${id} ${browserSecret(ctx)}`;

  async function keep(ctx: Context, form: string): Promise<void> {
    const id = idOf(ctx);
    const given = givenBy(ctx, await sessionAfter(ctx));
    const answer = seal(master, purpose(ctx, id), JSON.stringify(given), random);
    const payload = { form: markOf(id, form), answer };
    await artefacts.put({ kind: KIND, id, payload, seconds: KEPT });
  }

  /**
   * Repeats the stored answer. Undefined: there is none for this browser and form, or the person is no longer signed
   * in.
   */
  async function repeat(ctx: Context, form: string, isUsed?: IsUsed): Promise<true | undefined> {
    const id = idOf(ctx);
    const kept = await artefacts.get(KIND, id);
    if (kept === undefined || !sameText(String(kept['form']), markOf(id, form))) return undefined;
    const given = JSON.parse(unseal(master, purpose(ctx, id), String(kept['answer']))) as Given;
    const cookies = await cookiesAgain(ctx, given);
    if (cookies === undefined) return undefined;
    const leadsToClient = given.fields['refresh'] !== undefined;
    const isOver = leadsToClient && (await isUsed?.(ctx));
    answerWith(
      ctx,
      isOver ? errorPage(frameOf(server, ctx.req), { status: 200, kind: 'done' }) : given,
    );
    ctx.res.setHeader('Set-Cookie', cookies);
    return true;
  }

  /** Handles the form. Only if it is refused, the stored answer replaces the refusal. */
  async function handled(ctx: Context, handle: () => unknown, form = '', isUsed?: IsUsed) {
    const again = () => {
      // A request from another site comes without our cookies, and its answer must not replace them.
      if (!hasSecret(ctx)) return undefined;
      const look = () => repeat(ctx, form, isUsed);
      return isLate(ctx) ? soon(look) : look();
    };
    try {
      await handle();
    } catch (error) {
      if (error instanceof PageError && (await again())) return;
      throw error;
    }
    if (isDone(ctx)) await keepBy(ctx, () => keep(ctx, form));
    else await again();
  }

  return {
    /** Middleware for a form: if it is refused, it gets the answer to an equal form that was handled. */
    form:
      (handler: Middleware): Middleware =>
      async (ctx, next) => {
        const form = await checkForm(ctx);
        await handled(ctx, () => handler(ctx, next), form.toString());
      },

    /**
     * Middleware for a page where a person decides only once, perhaps without a form: every later request gets the
     * answer to the decision.
     */
    decision:
      (handler: Middleware, isUsed: IsUsed): Middleware =>
      (ctx, next) =>
        handled(ctx, () => handler(ctx, next), undefined, isUsed),
  };
}
