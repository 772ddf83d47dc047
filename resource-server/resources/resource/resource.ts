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
  readonly judgeAgain: JudgeAgain;
}

/** What is at an address now. */
export interface Resource {
  /** Nothing there: the methods are those that can create something, and the others meet 404. */
  readonly missing: boolean;
  /** What it really accepts: Allow, 405 and what OPTIONS says follow. */
  readonly methods: readonly string[];
  /** What OPTIONS says besides (Accept-Query, Accept-Patch, Accept-Ranges). */
  readonly options: Fields;
  /** Does one of them. */
  perform(): Promise<ResourceAnswer>;
}

/** What a space serves. */
export interface ServedResources {
  /** All that some resource at the target could ever accept, whoever asks and whatever is there. */
  possible(target: Target, space: Space): readonly string[];
  /** Undefined: there can be nothing there. */
  find(context: ResourceContext): Promise<Resource | undefined>;
}
