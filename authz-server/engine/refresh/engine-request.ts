import { AsyncLocalStorage } from 'node:async_hooks';
import type { AdapterPayload, KoaContextWithOIDC } from 'oidc-provider';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';

/**
 * The state of one request beside the engine's own, through which adapters and steps communicate. An
 * authorization request that uses up a pushed one (RFC 9126 section 4) has it, too.
 */
export interface EngineRequest {
  /** Attempts that were never settled, and in whose place this request steps; by stored identifier. */
  readonly lost: Map<string, string>;
  /** Codes and tokens that may be used once and were looked for, as they are stored, by stored identifier. */
  readonly found: Map<string, AdapterPayload>;
  /** The artefact that the engine consumed. `write` records the use together with the successor, in one step. */
  use?: { readonly id: string; write(): Promise<void> };
  /** The refresh token that comes of it, as the client is told and as it is stored. */
  successor?: { readonly id: string; readonly artefact: Artefact };
  /** It is written: what is left to do once the client has the answer. */
  settle?: () => Promise<void>;
}

const requests = new AsyncLocalStorage<EngineRequest>();

/** Returns the current request, or undefined outside of any: a use is then written at once. */
export const engineRequest = (): EngineRequest | undefined => requests.getStore();

/** A step after each successful answer of the engine; it throws the error that the client gets instead. */
export type AnswerStep = (ctx: KoaContextWithOIDC, request: EngineRequest) => void | Promise<void>;

/** Around the engine: the steps that follow its answers, whatever they are to; each knows which it is for. */
export function answering(steps: readonly AnswerStep[]) {
  return (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    const request: EngineRequest = { lost: new Map(), found: new Map() };
    return requests.run(request, async () => {
      await next();
      if (ctx.oidc === undefined || ctx.status >= 400) return;
      for (const step of steps) await step(ctx, request);
    });
  };
}
