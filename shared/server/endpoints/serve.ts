import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { refusal } from '#shared/auth/judge/refusal.ts';
import { type Answer, type Fields, notFound } from '#shared/http/answer.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import { allow } from '#shared/http/methods.ts';
import type { Target } from '#shared/http/target.ts';
import { admitAndNote } from './admit-and-note.ts';
import { send } from '../message/answer.ts';
import { authRequest, type Recipient } from './auth-request.ts';
import { aboutEndpoint, aboutServer } from './by-address.ts';
import type { Answered, Endpoint } from './endpoint.ts';
import { health, type Ready } from './health.ts';
import { type AnyRequest, type AnyResponse, holdFields } from '../message/message.ts';

type Given = Answer<string | Uint8Array>;

export interface Served<Request, Response> {
  /** The methods that some endpoint supports; any other method is 501 on any path (RFC 9110 section 9.1). */
  readonly handled: ReadonlySet<string>;
  readonly recipient: Recipient;
  /** Resolves when the server can do its work. */
  readonly ready: Ready;
  /** Uses up one request of the limit of the client's address; throws HttpError 429. */
  readonly spend?: (request: Request) => Awaitable<void>;
  /** Adds the reason to an answer or removes it, depending on the configuration. */
  readonly told?: (answer: Given) => Given;
  /** The handler after the table; default: none. */
  readonly behind?: (request: Request, response: Response, target: Target) => Awaitable<void>;
}

export type Serve<Request, Response> = (
  request: Request,
  response: Response,
  target: Target,
  endpoint: Endpoint | undefined,
) => Awaitable<void>;

/**
 * Serves requests by the table of endpoints. It handles 501, OPTIONS, preflights, 405, limits and authorization, and
 * decides which scripts may read the answers, errors included. `endpoint`: the row of the address.
 */
export function createServe<Request extends AnyRequest, Response extends AnyResponse>({
  handled,
  recipient,
  ready,
  spend,
  told = (answer) => answer,
  behind = () => {
    throw notFound();
  },
}: Served<Request, Response>): Serve<Request, Response> {
  const checks = health(ready);
  const options: Fields = { Allow: allow(handled) };

  /** Runs an endpoint for an admitted client, or refuses the request. */
  function guarded(
    { byToken, cors }: Endpoint & Required<Pick<Endpoint, 'byToken'>>,
    request: Request,
  ): Answered {
    const { space, origin, answer, readContent } = byToken;
    const { method = '', url = '', headers } = request;
    const admitted = () =>
      admitAndNote(
        request,
        space,
        authRequest(request, { method, target: url, origin }, recipient),
      );
    return andThen(andThen(readContent?.(request), admitted), (outcome) => {
      if (outcome.kind === 'absent') throw notFound();
      if (outcome.kind === 'answer') return refusal(outcome, cors?.errors(headers.origin));
      return andThen(answer(request, outcome), (given) => ({
        ...given,
        fields: { ...outcome.fields, ...given.fields },
      }));
    });
  }

  /** Returns undefined if the handler after the table answers. */
  function answerOf(endpoint: Endpoint, request: Request, target: Target): Answered | undefined {
    const { answer, byToken } = endpoint;
    return byToken ? guarded({ ...endpoint, byToken }, request) : answer?.(request, target);
  }

  return (request, response, target, row) => {
    const { origin } = request.headers;
    const endpoint = row ?? checks.get(target.path);
    const cors = endpoint?.cors;

    function answerAt(at: Endpoint): Awaitable<void> {
      if (cors) holdFields(response, cors.answers(origin));
      const answered = answerOf(at, request, target);
      return answered === undefined
        ? behind(request, response, target)
        : andThen(answered, (answer) => send(request, response, told(answer)));
    }

    return recover(
      () => {
        checkMethod(request.method ?? '', { known: handled });
        if (target.form === 'asterisk')
          return send(request, response, aboutServer(request, options));
        const known = endpoint && aboutEndpoint(request, endpoint, options);
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
