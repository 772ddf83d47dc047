import { type Awaitable, recover } from '#shared/base/awaitable.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { parseTarget, type Target } from '#shared/http/target.ts';
import type { Log } from '#shared/base/log.ts';
import { type Answer, type Fields, HttpError } from '#shared/http/answer.ts';
import { errorAnswer, send } from '../message/answer.ts';
import { SECURITY_FIELDS } from './security-fields.ts';
import { type AnyRequest, type AnyResponse, holdFields } from '../message/message.ts';
import type { RefuseMisdirected } from './misdirected.ts';
import { note, notedOf } from '../message/request-log.ts';

/** A request with a readable target, and its response. */
export interface Opened<Request = AnyRequest, Response = AnyResponse> {
  readonly request: Request;
  readonly response: Response;
  readonly target: Target;
}

/** Opens requests whose address every server reads in the same way. */
export function openTarget<Request extends AnyRequest, Response extends AnyResponse>(
  request: Request,
  response: Response,
): Opened<Request, Response> | undefined {
  const target = parseTarget(request.url ?? '');
  return target && { request, response, target };
}

export interface FrontDoor<Request, Response, Exchange extends Opened> {
  /** Undefined if the target is malformed, or can be read in two ways. */
  readonly open: (request: Request, response: Response) => Exchange | undefined;
  readonly refuseMisdirected: RefuseMisdirected;
  /** Fields of all answers that do not set other values. */
  readonly fields: (exchange: Exchange) => Fields;
  readonly log: Log;
  /** Answers an error; default: problem details. `exchange` is undefined if the target could not be read. */
  readonly answer?: (error: unknown, request: Request, exchange: Exchange | undefined) => Answer;
}

/**
 * Creates the first step of both servers. It answers 400 to a target that can be read in two ways, and 421 to a
 * foreign name. `handle` gets all other requests, and its errors become answers.
 */
export function frontDoor<
  Request extends AnyRequest,
  Response extends AnyResponse,
  Exchange extends Opened = Opened<Request, Response>,
>(
  handle: (exchange: Exchange) => Awaitable<void>,
  {
    open,
    refuseMisdirected,
    fields,
    log,
    answer = errorAnswer,
  }: FrontDoor<Request, Response, Exchange>,
): (request: Request, response: Response) => Awaitable<void> {
  return (request, response) => {
    let exchange: Exchange | undefined;
    return recover(
      () => {
        holdFields(response, SECURITY_FIELDS);
        exchange = open(request, response);
        if (exchange === undefined) {
          throw new BadRequest('The request target is malformed or ambiguous.');
        }
        holdFields(response, fields(exchange));
        refuseMisdirected(request, exchange.target.path);
        return handle(exchange);
      },
      (error) => {
        noteError(request, error, log);
        send(request, response, answer(error, request, exchange));
      },
    );
  };
}

/**
 * Adds the error's reason to the request's log line. A 404 after refused credentials has the reason for which the
 * credentials were refused. A defect is logged with its stack trace.
 */
export function noteError(request: AnyRequest, error: unknown, log: Log): void {
  const thrown = error instanceof Error ? error : new Error(String(error));
  const { message, cause } = thrown;
  const because = error instanceof HttpError && cause instanceof Error ? `: ${cause.message}` : '';
  const isKnown = error instanceof HttpError;
  const { reason, refusal } = isKnown ? error : {};
  if (refusal) note(request, refusal);
  else if (!(isKnown && error.status === 404 && notedOf(request)?.refusal !== undefined)) {
    note(request, { refusal: undefined, reason: reason ?? message + because });
  }
  if (!isKnown && errorAnswer(error).status === 500)
    log.error('request.failed', { reason: thrown.stack });
}
