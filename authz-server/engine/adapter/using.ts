import { Provider } from 'oidc-provider';
import type { Artefact } from '#shared/stores/artefacts.ts';

/** What a request uses up (single-use.ts), until it is written. */
export interface Using {
  /** Identifier of what is used. */
  readonly used: string;
  /** What comes of the use; both are written by one step. */
  successor?: Artefact;
  /** Throws what the engine tells a second user. */
  write(): Promise<void>;
  /** The answer is out. Absent until it is written. */
  settle?: () => Promise<void>;
}

/** What one request knows of what it uses. */
export interface UsingRequest {
  /** Attempts that were never settled, and in whose place this request steps; by stored identifier. */
  readonly lost: Map<string, string>;
  using?: Using;
}

const requests = new WeakMap<object, UsingRequest>();

/** From now on `ctx` writes at its end what it used (uses.ts). */
export function beginUsing(ctx: object): UsingRequest {
  const request: UsingRequest = { lost: new Map() };
  requests.set(ctx, request);
  return request;
}

/** Undefined outside of such a request: then a use is written at once. */
export function usingRequest(): UsingRequest | undefined {
  return Provider.ctx && requests.get(Provider.ctx);
}
