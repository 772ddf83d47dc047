import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import { createSameBrowser, type Interaction } from '../frame/same-browser.ts';

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
    // Without the grant and the session of who was signed in before: they may end now, and the
    // interaction must not. But what somebody has allowed is taken up only while they are signed in.
    const { grantId: _ended, session, ...kept } = was ?? {};
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

  /**
   * Detaches a request from the client's grant in this session. A sign-in that sets up a second factor ends that grant,
   * and the request would end, too.
   */
  async function outliveGrant({ uid, exp }: Interaction): Promise<void> {
    const was = await stores.artefacts.get('Interaction', uid);
    if (was?.['grantId'] === undefined) return;
    const { grantId: _ending, ...payload } = was;
    const seconds = exp - epochSeconds(clock);
    await stores.artefacts.replace({ kind: 'Interaction', id: uid, payload, seconds }, was);
  }

  return { finish, outliveGrant };
}
