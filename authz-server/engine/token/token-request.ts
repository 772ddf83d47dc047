import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Log } from '#shared/base/log.ts';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spendOfSecret } from '../../base/spend.ts';
import { checkAssertion } from '../clients/client-authentication.ts';
import { clientBasedCORS } from '../clients/cors.ts';
import { orTemporarilyUnavailable } from '../../base/errors.ts';
import { findAccount } from './find-account.ts';
import { proofs } from './proofs.ts';
import { redirectUriOfCode } from '../codes/redirect-uri-of-code.ts';
import { settled } from '../refresh/settled.ts';
import { tokenClaims } from './token-claims.ts';
import { tokenResponse } from './token-response.ts';

/**
 * POST /token (RFC 6749 section 3.2), from top to bottom. Before it (app.ts) stand the limit of the address, the
 * end of keys that were revoked, the longest form, and our own origin in place of what the network says;
 * around it (answers/refusals.ts) how a refusal is told. What is refused anywhere has used nothing up.
 */
export const tokenSteps = (server: TokenServer, log: Log) => ({
  /** The engine finds the client (clients/clients.ts), and compares its secret or looks at its assertion. */
  client: {
    clientBasedCORS,
    assertJwtClientAuthClaimsAndHeader: checkAssertion(server), // and after it clients/replay.ts
  } satisfies Configuration,

  /** It is who it says, and may use grants of this type. */
  grant: [spendOfSecret(server), redirectUriOfCode] satisfies readonly GrantStep[],

  /**
   * The engine checks the DPoP proof, finds the code or token (adapter/) and checks what it is bound to. Then it
   * asks these, in this order, except that it replaces a refresh token before it signs. That it consumes the
   * one and saves the other is only noted (`EngineRequest`).
   */
  tokens: {
    findAccount: findAccount(server),
    // RFC 9700 section 4.14.2: replaced at each use, unless it is bound to a key of its client.
    rotateRefreshToken: ({ oidc: { client, refreshToken } }) =>
      client?.clientAuthMethod !== 'none' || refreshToken?.isSenderConstrained() !== true,
    extraTokenClaims: (ctx, token) => orTemporarilyUnavailable(tokenClaims(server, ctx, token)),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  } satisfies Configuration,

  /** The engine has signed, and its answer is no error. */
  answer: [
    proofs(server),
    tokenResponse(server),
    written,
    settled(log), // once the answer is out
  ] satisfies readonly AnswerStep[],
});

export type TokenSteps = ReturnType<typeof tokenSteps>;

/** What the steps work with. */
export type TokenServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'clock' | 'directory' | 'feed' | 'longestLife'
>;

/** Before the engine redeems anything; throws what the client is told. */
export type GrantStep = (ctx: KoaContextWithOIDC) => void | Promise<void>;
/** After an answer of the engine that is no error; throws what the client is told instead. */
export type AnswerStep = (ctx: KoaContextWithOIDC, request: EngineRequest) => void | Promise<void>;

/**
 * What is known of one request beside what the engine knows: all that adapters and steps tell one another. An
 * authorization request that uses up a pushed one (RFC 9126 section 4) has it too.
 */
export interface EngineRequest {
  /** Attempts that were never settled, and in whose place this request steps; by stored identifier. */
  readonly lost: Map<string, string>;
  /** What the engine has consumed. `write` records that with the successor, in one step. */
  use?: { readonly id: string; write(): Promise<void> };
  /** The refresh token that comes of it, as the client is told and as it is stored. */
  successor?: { readonly id: string; readonly artefact: Artefact };
  /** It is written: what is left to do once the client has the answer. */
  settle?: () => Promise<void>;
}

const requests = new AsyncLocalStorage<EngineRequest>();

/** Undefined outside of any request: then a use is written at once. */
export const engineRequest = (): EngineRequest | undefined => requests.getStore();

/** Around the engine: the steps that follow its answers, whatever they are to; each knows which it is for. */
export function answering(steps: readonly AnswerStep[]) {
  return (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    const request: EngineRequest = { lost: new Map() };
    return requests.run(request, async () => {
      await next();
      if (ctx.oidc === undefined || ctx.status >= 400) return;
      for (const step of steps) await step(ctx, request);
    });
  };
}

/** All that is left to do is to answer: what was used is written, unless nobody waits for the answer any more. */
async function written(ctx: KoaContextWithOIDC, { use }: EngineRequest): Promise<void> {
  if (use === undefined || ctx.oidc.route !== 'token') return;
  if (await isGone(ctx)) ctx.res.destroy();
  else await use.write();
}

/**
 * Whether the client gave up while this process was held up. What lies behind the request on its connection,
 * such as the end of it, is read a turn of the event loop later, and some requests take less than one. Who only
 * ended its own side (RFC 9112 section 9.6) looks the same.
 */
async function isGone(ctx: KoaContextWithOIDC): Promise<boolean> {
  await turn();
  await turn();
  return !ctx.writable || ctx.req.socket.readableEnded;
}
