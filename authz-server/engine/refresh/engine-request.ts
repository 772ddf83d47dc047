import { AsyncLocalStorage } from 'node:async_hooks';
import type { AdapterPayload, KoaContextWithOIDC } from 'oidc-provider';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';

/**
 * The state of one request that adapters and steps share, beside the engine's own state. An authorization request that
 * uses a pushed request (RFC 9126 section 4) has such a state, too.
 */
export interface EngineRequest {
  /** The unsettled attempts that this request repeats, by stored identifier. */
  readonly lost: Map<string, string>;
  /** The stored codes and tokens of single use that this request has read, by stored identifier. */
  readonly found: Map<string, AdapterPayload>;
  /** The code or token that the engine consumed. `write` records the use and the successor in one step. */
  use?: { readonly id: string; write(): Promise<void> };
  /** The refresh token that this request issues: the client's value and the stored row. */
  successor?: { readonly id: string; readonly artefact: Artefact };
  /** Settles the use after the client has the answer. Set once the use is written. */
  settle?: () => Promise<void>;
}

const requests = new AsyncLocalStorage<EngineRequest>();

/**
 * Returns the state of the current request. Outside of a request it returns undefined, and a use is then written at
 * once.
 */
export const engineRequest = (): EngineRequest | undefined => requests.getStore();

/** A step after each successful answer of the engine. If the client must get an error instead, the step throws it. */
export type AnswerStep = (ctx: KoaContextWithOIDC, request: EngineRequest) => void | Promise<void>;

/** Runs the steps after each answer of the engine. Each step checks whether it applies to the answer. */
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
