import { BadRequest } from '#shared/http/fields.ts';
import { parseTarget, type Target } from '#shared/http/target.ts';
import type { Log } from '#shared/log.ts';
import { ambiguous } from './ambiguity.ts';
import { type Answer, errorAnswer, send } from './answer.ts';
import { health } from './health.ts';
import type { AnyRequest, AnyResponse } from './message.ts';
import { note } from './request-log.ts';

export interface FrontDoor<Request> {
  /** Resolves when the server can do its work; asked for `/health/ready`. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
  /** What somebody is told of an error; default: problem details. */
  readonly answer?: (error: unknown, request: Request) => Answer;
}

/**
 * What both servers decide before anything else: 400 for what can be read in two ways, and health.
 * `handle` gets the rest, and what it throws becomes an answer.
 */
export function frontDoor<Request extends AnyRequest, Response extends AnyResponse>(
  handle: (request: Request, response: Response, target: Target) => Promise<void>,
  { ready, log, answer = errorAnswer }: FrontDoor<Request>,
): (request: Request, response: Response) => Promise<void> {
  async function enter(request: Request, response: Response): Promise<void> {
    const reason = ambiguous(request);
    if (reason !== undefined) throw new BadRequest(reason);
    const target = parseTarget(request.url ?? '');
    if (target === undefined) throw new BadRequest('The request target is malformed or ambiguous.');
    const { method = '' } = request;
    const status = await health(method, target.path, ready);
    if (status !== undefined) return send(request, response, status);
    return handle(request, response, target);
  }

  return async (request, response) => {
    try {
      await enter(request, response);
    } catch (error) {
      noteError(request, error, log);
      send(request, response, answer(error, request));
    }
  };
}

/** The reason goes to the line of the request; what is a defect of ours goes to the log with its trace. */
export function noteError(request: AnyRequest, error: unknown, log: Log): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  note(request, { reason: message });
  if (errorAnswer(error).status === 500) log.error('request.failed', { reason: stack });
}
