import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { seal, unseal } from '#shared/keys/seal.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { PagesServer } from '../base/server.ts';
import { createCsrf } from './frame/csrf.ts';
import { answerWith } from './frame/respond.ts';
import { createGivenAgain, type Given, KEPT } from './given-again.ts';
import { createSameBrowser } from './frame/same-browser.ts';
import { soon } from './frame/soon.ts';
import { frameOf } from './frame/view-of.ts';
import { wayBack } from './frame/way-back.ts';
import { errorPage } from './views/error.ts';

/** A stored answer of the engine to a browser that returns from our pages. */
interface Kept extends Given {
  readonly client: string;
  readonly code: string | undefined;
}

/** The members of a finished interaction that this file reads. */
interface Done {
  readonly done?: true;
  readonly result?: { readonly browser?: string };
  readonly answer?: string;
}

/**
 * A browser on a slow line may send a form again before the first answer arrives, and so lose that answer. The server
 * keeps the answer for 30 s, sealed with the browser's secret, and repeats it only to that browser.
 */
export function createKeptAnswers(server: PagesServer, provider: Provider) {
  const { master, random } = server;
  const { artefacts } = server.stores;
  const { browserSecret } = createCsrf(server);
  const { isHere } = createSameBrowser(server, provider);
  const { givenBy, cookiesAgain, keepBy } = createGivenAgain(server, provider);
  const uidOf = ({ path }: KoaContextWithOIDC) => path.slice(path.lastIndexOf('/') + 1);
  const purpose = (ctx: KoaContextWithOIDC) => `kept answer ${uidOf(ctx)} ${browserSecret(ctx)}`;

  /** Finds the answer. It waits until an earlier request has its answer. */
  async function find(ctx: KoaContextWithOIDC): Promise<Kept | undefined> {
    const read = () => artefacts.get('Interaction', uidOf(ctx)) as Promise<Done | undefined>;
    const { done, result } = (await read()) ?? {};
    if (done !== true || !isHere(ctx, result?.browser)) return undefined;
    const answer = await soon(async () => (await read())?.answer);
    if (answer === undefined) return undefined;
    return JSON.parse(unseal(master, purpose(ctx), answer)) as Kept;
  }

  /**
   * Whether the client has redeemed the code. If it redeemed the code again, the grant would end (RFC 6749 section
   * 4.1.2).
   */
  async function isUsed(code: string | undefined): Promise<boolean> {
    return code !== undefined && !(await provider.AuthorizationCode.find(code))?.isValid;
  }

  return {
    /** Stores the answer after the engine has handled an interaction. */
    async keep(ctx: KoaContextWithOIDC): Promise<void> {
      const { client, session, entities } = ctx.oidc;
      if (client === undefined) return;
      const id = uidOf(ctx);
      const done = (await artefacts.get('Interaction', id)) as Done | undefined;
      if (done?.done !== true || done.answer !== undefined) return;
      if (!isHere(ctx, done.result?.browser)) return;
      const uid = session?.accountId === undefined ? undefined : session.uid;
      const kept: Kept = {
        ...givenBy(ctx, uid),
        client: client.clientId,
        code: entities.AuthorizationCode?.jti,
      };
      const answer = seal(master, purpose(ctx), JSON.stringify(kept), random);
      const payload = { ...done, answer };
      await keepBy(ctx, () => artefacts.put({ kind: 'Interaction', id, payload, seconds: KEPT }));
    },

    /** Repeats the stored answer. False: there is none for this browser, or the person is no longer signed in. */
    async repeat(ctx: KoaContextWithOIDC): Promise<boolean> {
      const kept = await find(ctx);
      if (kept === undefined) return false;
      const [cookies, client] = await Promise.all([
        cookiesAgain(ctx, kept),
        provider.Client.find(kept.client),
      ]);
      if (cookies === undefined || client === undefined) return false;
      if (await isUsed(kept.code)) {
        const back = wayBack(client.redirectUris);
        answerWith(ctx, errorPage(frameOf(server, ctx.req), { status: 200, kind: 'done', back }));
      } else {
        ctx.oidc.entity('Client', client);
        answerWith(ctx, kept);
      }
      ctx.res.setHeader('Set-Cookie', cookies);
      // The engine has answered the client with an error.
      note(ctx.req, { reason: undefined });
      return true;
    },
  };
}
