import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { refusal } from '#shared/auth/refusal.ts';
import {
  type Answer,
  type Fields,
  methodNotAllowed,
  notFound,
  notImplemented,
} from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { allow } from '#shared/http/methods.ts';
import type { Target } from '#shared/http/target.ts';
import { admitted } from './admitted.ts';
import { send } from './answer.ts';
import { authRequest, type Recipient } from './auth-request.ts';
import { type Cors, isPreflight, preflight } from './cors.ts';
import type { Answered, Endpoint } from './endpoint.ts';
import { health } from './health.ts';
import { type AnyRequest, type AnyResponse, holdFields } from './message.ts';

export interface Served<Request, Response> {
  /** The methods that are handled somewhere; any other is 501 on any path (RFC 9110 section 9.1). */
  readonly handled: ReadonlySet<string>;
  /** What OPTIONS says of the server as a whole (section 9.3.7), and of an endpoint but for its Allow. */
  readonly options?: Fields;
  readonly recipient: Recipient;
  /** Resolves when the server can do its work. */
  readonly ready: () => Promise<void>;
  /** Takes one from the bucket of the address that asks; throws HttpError 429. */
  readonly spend?: (request: Request) => Awaitable<void>;
  /** What is behind the table; default: nothing. */
  readonly behind?: (request: Request, response: Response, target: Target) => Awaitable<void>;
}

export type Serve<Request, Response> = (
  request: Request,
  response: Response,
  target: Target,
  endpoint: Endpoint | undefined,
  cors?: Cors,
) => Awaitable<void>;

/**
 * What every request to a server meets, by the table of its endpoints: 501, OPTIONS, preflights, 405, limits,
 * who may enter, and which scripts may read the answer, errors included. `endpoint`: the row of the address;
 * where there is none `cors` is that of what is behind the table.
 */
export function createServe<Request extends AnyRequest, Response extends AnyResponse>({
  handled,
  options = { Allow: allow(handled) },
  recipient,
  ready,
  spend,
  behind = () => {
    throw notFound();
  },
}: Served<Request, Response>): Serve<Request, Response> {
  const checks = health(ready);

  /** What follows from the method; undefined: it is one that the endpoint has. */
  function byMethod(
    request: Request,
    target: Target,
    endpoint: Endpoint | undefined,
  ): Answer | undefined {
    const { method = '', headers } = request;
    if (!handled.has(method)) throw notImplemented(method);
    if (target.form === 'asterisk') {
      if (method === 'OPTIONS') return { status: 204, fields: options };
      throw new BadRequest('Only OPTIONS can be asked of `*` (RFC 9112 section 3.2.4).');
    }
    if (endpoint === undefined) return undefined;
    const { cors, methods } = endpoint;
    if (cors && isPreflight(request)) return preflight(cors, request, methods);
    if (methods.includes(method)) return undefined;
    const Allow = allow(methods);
    if (method === 'OPTIONS') {
      return { status: 204, fields: { ...options, Allow, ...cors?.answers(headers.origin) } };
    }
    throw methodNotAllowed(Allow);
  }

  /** What an endpoint does for who is let in, else why not. */
  function guarded(
    { space, origin, answer }: NonNullable<Endpoint['byToken']>,
    request: Request,
    cors: Cors | undefined,
  ): Answered {
    const { method = '', url = '', headers } = request;
    const asked = authRequest(request, { method, target: url, origin }, recipient);
    return andThen(admitted(request, space, asked), (outcome) => {
      if (outcome.kind === 'absent') throw notFound();
      if (outcome.kind === 'answer') return refusal(outcome, cors?.errors(headers.origin));
      return andThen(answer(request, outcome.principal), (given) => ({
        ...given,
        fields: { ...outcome.fields, ...given.fields },
      }));
    });
  }

  /** What the endpoint answers; undefined: what is behind the table does. */
  function answerOf(
    { answer, byToken }: Endpoint,
    request: Request,
    target: Target,
    cors: Cors | undefined,
  ): Answered | undefined {
    if (byToken) return guarded(byToken, request, cors);
    return answer?.(request, target);
  }

  return (request, response, target, row, cors = row?.cors) => {
    const { origin } = request.headers;
    const endpoint = row ?? checks.get(target.path);

    function answerAt(at: Endpoint): Awaitable<void> {
      if (cors) holdFields(response, cors.answers(origin));
      const answered = answerOf(at, request, target, cors);
      return answered === undefined
        ? behind(request, response, target)
        : andThen(answered, (answer) => send(request, response, answer));
    }

    return recover(
      () => {
        const known = byMethod(request, target, endpoint);
        if (known !== undefined) return send(request, response, known);
        if (endpoint === undefined) return behind(request, response, target);
        if (!endpoint.limited || spend === undefined) return answerAt(endpoint);
        return andThen(spend(request), () => answerAt(endpoint));
      },
      (error) => {
        if (cors) holdFields(response, cors.errors(origin));
        throw error;
      },
    );
  };
}
