import { TLSSocket } from 'node:tls';
import type { AuthRequest, Outcome } from '#shared/auth/scheme.ts';
import type { Mark } from '#shared/auth/standing/standing.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Fields } from '#shared/http/answer.ts';
import { parsePassedTarget, parseTreeTarget, type Target } from '#shared/http/target.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { Cors } from '#shared/server/endpoints/cors.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Shown } from '../space/hiding.ts';
import { leadsInto, type Space, type Spaces } from '../space/spaces.ts';
import type { JudgeAgain } from './under-way.ts';

export type Passed = Extract<Outcome, { kind: 'pass' }>;

/** A request with everything known about it. It is made once, and each step adds its findings (`order.ts`). */
export interface Exchange {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: Target;
  /** The origin of the server that the client addressed. */
  readonly origin: string;
  /** The arrival of the request, in milliseconds of the monotonic clock. */
  readonly arrived: number;
  /** Returns the request in the form that authentication reads. */
  asked(): AuthRequest;
  /** The space of the target: a visible space, or that of `hidden`. Undefined at an endpoint. */
  space: Space | undefined;
  /** The hidden space for which the request's credentials are valid. */
  hidden?: Shown;
  /** The server's own endpoint at the target, which is in no space. */
  endpoint?: Endpoint | undefined;
  /** The scripts that may read an error. Undefined: none, or the error has its own CORS fields. */
  cors?: Cors | undefined;
  /** True if the request needs no authentication. */
  unasked?: boolean;
  /** The outcome that admitted the client, with its principal. */
  passed?: Passed;
  /** The mark of the revocations that were known before the credentials were checked. */
  mark?: Mark;
  /** Fields that this server adds to the answer. */
  fields: Fields;
  /** Ends the answer once the client's credentials are revoked. */
  watch?: () => JudgeAgain;
}

/** Reads an exchange, and adds to it or answers it. Undefined: the next step continues. */
export type Step = (exchange: Exchange) => Awaitable<ResourceAnswer | undefined>;

interface OpeningParts {
  readonly config: Pick<Config, 'resource' | 'tls'>;
  readonly spaces: Pick<Spaces, 'find'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly recipient: Recipient;
}

/**
 * Begins an exchange. Returns undefined, which becomes 400, for a malformed or ambiguous target: with dot segments,
 * encoded slashes or double slashes (shared/http/target.ts).
 * There are two exceptions. Within a tree of documents a doubled slash is read as one, and a name may have a carriage
 * return. A path below the space of an application is left to the application.
 */
export function createOpen({ config, spaces, clock, recipient }: OpeningParts) {
  return (request: AnyRequest, response: AnyResponse): Exchange | undefined => {
    const { method = '', url = '', socket } = request;
    const passed = parsePassedTarget(url);
    if (passed === undefined) return undefined;
    // The origin of TLS applies only if this server terminates TLS itself.
    const { resource: origin } = (socket instanceof TLSSocket && config.tls) || config;
    const space = spaces.find(origin, passed.segments);
    const target = passed.odd === undefined ? passed : oddTarget(passed, url, space);
    if (target === undefined) return undefined;
    let asked: AuthRequest | undefined;
    return {
      request,
      response,
      target,
      origin,
      arrived: clock.monotonic(),
      asked: () => (asked ??= authRequest(request, { method, target: url, origin }, recipient)),
      space,
      fields: {},
    };
  };
}

/** Reads an unusual target by the rules of its space. Returns undefined if the space accepts no such target. */
function oddTarget(passed: Target, url: string, space: Space | undefined): Target | undefined {
  const target = space?.upstream ? passed : parseTreeTarget(url);
  return space && target && leadsInto(space, target) ? target : undefined;
}
