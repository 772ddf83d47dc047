import type { ParameterizedContext } from 'koa';
import type { Principal } from '#shared/auth/scheme.ts';
import type { Target } from '#shared/http/target.ts';
import type { Space } from '../spaces.ts';

/** A request that passed authentication and authorization, on its way to a resource. */
export interface Visit {
  readonly space: Space;
  readonly target: Target;
  readonly scheme: string;
  readonly principal: Principal;
}

export type ResourceContext = ParameterizedContext<Visit>;

/** Does one method. Sets response fields last, so that an error before them leaves none behind. */
export type Handler = (context: ResourceContext) => Promise<void>;

/** What an address can do: its real methods, from which Allow, 405 and CORS follow. */
export type Methods = ReadonlyMap<string, Handler>;

/** What a space serves: the methods of an address in it; undefined: there can be nothing there. */
export type Resources = (target: Target, space: Space) => Methods | undefined;
