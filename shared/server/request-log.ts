import type { Clock } from '#shared/clock.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { Log, LogFields } from '#shared/log.ts';
import { type Random, randomId } from '#shared/random.ts';
import type { AnyRequest, AnyResponse } from './message.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

const notes = new WeakMap<AnyRequest, Record<string, LogFields[string]>>();

/** Adds to the line of this request: space, scheme, verdict, reason. Never a secret, a token or a query. */
export function note(request: AnyRequest, fields: LogFields): void {
  const noted = notes.get(request);
  if (noted !== undefined) Object.assign(noted, fields);
}

/** Without the query and, of an absolute-form target, without what may hold a password. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  return path.slice(0, path.search(/[?#]|$/));
}

/**
 * Writes one line a request once it is over: id, method, path, status, milliseconds, and what
 * `note` added. The id is that of X-Request-Id when a trusted proxy sent a plain one, else random.
 * `cut`: the connection ended before the answer did.
 */
export function logged<Request extends AnyRequest, Response extends AnyResponse>(
  handler: (request: Request, response: Response) => void | Promise<void>,
  {
    log,
    clock,
    random,
    trusted,
  }: { log: Log; clock: Clock; random: Random; trusted: TrustedProxies },
): (request: Request, response: Response) => void | Promise<void> {
  return (request, response) => {
    const start = clock.now();
    const given = request.headers['x-request-id'];
    const believed =
      typeof given === 'string' &&
      REQUEST_ID.test(given) &&
      trusted.has(request.socket.remoteAddress ?? '');
    const noted = { id: believed ? given : randomId(random) };
    notes.set(request, noted);
    response.once('close', () => {
      log.info('request', {
        ...noted,
        method: request.method,
        path: pathOf(request.url ?? ''),
        status: response.statusCode,
        milliseconds: clock.now() - start,
        cut: response.writableFinished ? undefined : true,
      });
    });
    return handler(request, response);
  };
}
