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

/** A request, and what is known of it so far. It is made once; each step adds what it found out (`order.ts`). */
export interface Exchange {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: Target;
  /** Which of the server's origins was asked. */
  readonly origin: string;
  /** When it came: milliseconds by a clock that nobody sets. */
  readonly arrived: number;
  /** The request as authentication reads it. */
  asked(): AuthRequest;
  /** That has the target: among those that everybody sees, or that of `hidden`; undefined at an endpoint. */
  space: Space | undefined;
  /** The hidden space that its credentials are good for. */
  hidden?: Shown;
  /** The server's own, which is in no space. */
  endpoint?: Endpoint | undefined;
  /** Which scripts may read an error; undefined: none, or what an error says has its own fields. */
  cors?: Cors | undefined;
  /** Nobody is asked who they are. */
  unasked?: boolean;
  /** Who was let in. */
  passed?: Passed;
  /** What had been revoked before they were judged. */
  mark?: Mark;
  /** Of our own, for the answer. */
  fields: Fields;
  /** Ends the answer once what let its client in is revoked. */
  watch?: () => JudgeAgain;
}

/** Looks at an exchange, and adds to it or answers it. Undefined: the next step goes on. */
export type Step = (exchange: Exchange) => Awaitable<ResourceAnswer | undefined>;

interface OpeningParts {
  readonly config: Pick<Config, 'resource' | 'tls'>;
  readonly spaces: Pick<Spaces, 'find'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly recipient: Recipient;
}

/**
 * Begins an exchange; undefined: its target is malformed, or can be read in two ways. Within a tree of documents a
 * doubled slash is one, and a name may have a carriage return. What comes below a space of an application is for that
 * to read.
 */
export function createOpen({ config, spaces, clock, recipient }: OpeningParts) {
  return (request: AnyRequest, response: AnyResponse): Exchange | undefined => {
    const { method = '', url = '', socket } = request;
    const passed = parsePassedTarget(url);
    if (passed === undefined) return undefined;
    // That of TLS is where this server ends TLS itself.
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

/** Undefined: the space reads nothing so. */
function oddTarget(passed: Target, url: string, space: Space | undefined): Target | undefined {
  const target = space?.upstream ? passed : parseTreeTarget(url);
  return space && target && leadsInto(space, target) ? target : undefined;
}
