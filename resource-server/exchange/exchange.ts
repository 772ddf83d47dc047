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

/** A request and what is known of it so far. It is made once, and each step adds what it finds out (`order.ts`). */
export interface Exchange {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: Target;
  /** Which of the server's origins was asked. */
  readonly origin: string;
  /** When the request came: milliseconds of the monotonic clock. */
  readonly arrived: number;
  /** Returns the request as authentication reads it. */
  asked(): AuthRequest;
  /** The space that has the target: one that everybody sees, or that of `hidden`. Undefined at an endpoint. */
  space: Space | undefined;
  /** The hidden space that the request's credentials are good for. */
  hidden?: Shown;
  /** The server's own endpoint at the target, which is in no space. */
  endpoint?: Endpoint | undefined;
  /** Which scripts may read an error. Undefined: none, or the error has CORS fields of its own. */
  cors?: Cors | undefined;
  /** True if the request needs no authentication. */
  unasked?: boolean;
  /** The outcome that let the client in, with its principal. */
  passed?: Passed;
  /** The mark of the revocations that were known before the credentials were judged. */
  mark?: Mark;
  /** Fields that this server adds to the answer. */
  fields: Fields;
  /** Ends the answer once the client's credentials are revoked. */
  watch?: () => JudgeAgain;
}

/** Looks at an exchange, and adds to it or answers it. Returns undefined if the next step is to go on. */
export type Step = (exchange: Exchange) => Awaitable<ResourceAnswer | undefined>;

interface OpeningParts {
  readonly config: Pick<Config, 'resource' | 'tls'>;
  readonly spaces: Pick<Spaces, 'find'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly recipient: Recipient;
}

/**
 * Begins an exchange. Returns undefined, which becomes 400, if its target is malformed or ambiguous: dot segments,
 * encoded slashes, and elsewhere than in the next two cases double slashes (shared/http/target.ts). Within a tree of documents a doubled
 * slash counts as one, and a name may have a carriage return. A path below the space of an application is left to the
 * application.
 */
export function createOpen({ config, spaces, clock, recipient }: OpeningParts) {
  return (request: AnyRequest, response: AnyResponse): Exchange | undefined => {
    const { method = '', url = '', socket } = request;
    const passed = parsePassedTarget(url);
    if (passed === undefined) return undefined;
    // The origin of TLS applies only if this server ends TLS itself.
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

/** Reads an unusual target as its space does. Returns undefined if the space accepts no such target. */
function oddTarget(passed: Target, url: string, space: Space | undefined): Target | undefined {
  const target = space?.upstream ? passed : parseTreeTarget(url);
  return space && target && leadsInto(space, target) ? target : undefined;
}
