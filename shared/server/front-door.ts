import { type Awaitable, recover } from '#shared/base/awaitable.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { parseTarget, type Target } from '#shared/http/target.ts';
import type { Log } from '#shared/base/log.ts';
import { type Answer, type Fields, HttpError } from '#shared/http/answer.ts';
import { errorAnswer, send } from './answer.ts';
import { GUARD } from './guard.ts';
import { type AnyRequest, type AnyResponse, holdFields } from './message.ts';
import type { RefuseMisdirected } from './misdirected.ts';
import { note } from './request-log.ts';

export interface FrontDoor<Request> {
  /** Undefined: malformed, or it can be read in two ways. Default: `parseTarget`. */
  readonly parse?: (request: Request) => Target | undefined;
  readonly refuseMisdirected: RefuseMisdirected;
  /** That all answers have, unless they say otherwise. */
  readonly fields: (request: Request, target: Target) => Fields;
  readonly log: Log;
  /** What somebody is told of an error; default: problem details. */
  readonly answer?: (error: unknown, request: Request) => Answer;
}

/**
 * What both servers decide before anything else: 400 for a target that can be read in two ways, and 421.
 * `handle` gets the rest, and what it throws becomes an answer.
 */
export function frontDoor<Request extends AnyRequest, Response extends AnyResponse>(
  handle: (request: Request, response: Response, target: Target) => Awaitable<void>,
  {
    parse = ({ url = '' }) => parseTarget(url),
    refuseMisdirected,
    fields,
    log,
    answer = errorAnswer,
  }: FrontDoor<Request>,
): (request: Request, response: Response) => Awaitable<void> {
  function receive(request: Request, response: Response): Awaitable<void> {
    holdFields(response, GUARD);
    const target = parse(request);
    if (target === undefined) throw new BadRequest('The request target is malformed or ambiguous.');
    holdFields(response, fields(request, target));
    refuseMisdirected(request, target.path);
    return handle(request, response, target);
  }

  return (request, response) =>
    recover(
      () => receive(request, response),
      (error) => {
        noteError(request, error, log);
        send(request, response, answer(error, request));
      },
    );
}

/** The reason goes to the line of the request; what is a defect of ours goes to the log with its trace. */
export function noteError(request: AnyRequest, error: unknown, log: Log): void {
  const thrown = error instanceof Error ? error : new Error(String(error));
  const { message, cause } = thrown;
  const because = error instanceof HttpError && cause instanceof Error ? `: ${cause.message}` : '';
  const reason = error instanceof HttpError ? error.reason : undefined;
  note(request, { reason: reason ?? message + because });
  if (errorAnswer(error).status === 500) log.error('request.failed', { reason: thrown.stack });
}
