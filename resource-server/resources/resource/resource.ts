import type { Principal } from '#shared/auth/scheme.ts';
import type { Target } from '#shared/http/target.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Space } from '../../space/spaces.ts';
import type { JudgeAgain } from '../../exchange/under-way.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';

/** A request that passed authentication and authorization, on its way to a resource. */
export interface ResourceContext {
  readonly request: AnyRequest;
  readonly space: Space;
  readonly target: Target;
  readonly scheme: string;
  readonly principal: Principal;
  /** The address, as `clientAddress` gives it. */
  readonly address: string;
  readonly judgeAgain: JudgeAgain;
}

/** The current resource at an address. */
export interface Resource {
  /**
   * True if no resource exists at the address. `methods` are then those that create a resource, and all other methods
   * get 404.
   */
  readonly missing: boolean;
  /** The methods that the resource accepts now, for Allow, 405 and OPTIONS. */
  readonly methods: readonly string[];
  /** Further fields of OPTIONS (Accept-Query, Accept-Patch, Accept-Ranges). */
  readonly options: Fields;
  /** Performs one of the methods. */
  perform(): Promise<ResourceAnswer>;
}

/** The resources that a space serves. */
export interface ServedResources {
  /** All methods that any resource at the target could ever accept, for any caller and any state. */
  possible(target: Target, space: Space): readonly string[];
  /** Resolves to undefined if no resource can exist there. */
  find(context: ResourceContext): Promise<Resource | undefined>;
}
