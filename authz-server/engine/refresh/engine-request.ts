import { AsyncLocalStorage } from 'node:async_hooks';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';

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

/** After an answer of the engine that is no error; throws what the client is told instead. */
export type AnswerStep = (ctx: KoaContextWithOIDC, request: EngineRequest) => void | Promise<void>;

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
