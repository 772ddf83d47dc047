import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import { createSameBrowser, type Interaction } from '../frame/same-browser.ts';

export const REFUSED: InteractionResults = {
  error: 'access_denied',
  error_description: 'the person refused',
};

/**
 * The result for a person whose sign-in is too weak. Without it the engine would ask for a sign-in again and again (RFC
 * 9470 section 5).
 */
export const UNMET: InteractionResults = {
  error: 'unmet_authentication_requirements',
  error_description: 'the person did not sign in by one of the acr_values',
};

export const NOT_FOR: InteractionResults = {
  error: 'access_denied',
  error_description: 'the person may not use this client',
};

/** OpenID Connect Core 1.0 section 3.1.2.2: the answer if the person of `id_token_hint` does not sign in. */
export const NOT_EXPECTED: InteractionResults = {
  error: 'login_required',
  error_description: 'the person of id_token_hint did not sign in',
};

/** The prompts at which a person may sign in. */
export const SIGN_IN_PROMPTS: ReadonlySet<string> = new Set(['create', 'login', 'select_account']);

/**
 * Returns the person's earlier answers to the same request, but not the sign-in itself: it may be ended before the
 * browser continues.
 */
export function answersBefore({ lastSubmission = {} }: Interaction): InteractionResults {
  const kept = [...SIGN_IN_PROMPTS].filter((name) => lastSubmission[name] !== undefined);
  return Object.fromEntries(kept.map((name) => [name, lastSubmission[name]]));
}

/** Stores what a person has decided, with which the engine continues the client's request. */
export function createResults(server: PagesServer, provider: Provider) {
  const { stores, clock } = server;
  const { mark } = createSameBrowser(server, provider);

  /**
   * Stores the result, and redirects to the engine, which answers the client. Only this browser can continue with
   * `result`. False: another request stored a result first, or the engine has used it. `page` is shown before the
   * redirect.
   */
  async function finish(
    ctx: Context,
    interaction: Interaction,
    result: InteractionResults,
    page?: Answer,
  ): Promise<boolean> {
    const { uid, exp, returnTo } = interaction;
    const was = await stores.artefacts.get('Interaction', uid);
    // Without the session of the person who was signed in before: it may end now, and the interaction must not. But what
    // a person has allowed is taken up only while they are signed in.
    const { session, ...kept } = was ?? {};
    const bound = result.consent !== undefined && { session };
    // A session that goes on in another tab meanwhile resumes this one too, but for a new password.
    const resumable = result['signIn'] === undefined && { sessionUid: interaction.session?.uid };
    const payload = {
      ...kept,
      ...bound,
      result: { ...result, ...resumable, browser: mark(ctx) },
    };
    const seconds = exp - epochSeconds(clock);
    const stands =
      was !== undefined &&
      JSON.stringify(was['result']) === JSON.stringify(interaction.result) &&
      (await stores.artefacts.replace({ kind: 'Interaction', id: uid, payload, seconds }, was));
    if (page) answerWith(ctx, page);
    else seeOther(ctx, returnTo);
    return stands;
  }

  return { finish };
}
