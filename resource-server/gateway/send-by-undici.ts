import type { Dispatcher, Pool } from 'undici';
import type { HttpError } from '#shared/http/answer.ts';
import { failure } from '../forwarding/failure.ts';
import { unanswered } from '../forwarding/unanswered.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { Flow } from '../forwarding/flow.ts';
import { DECLINED, type Sink } from '../forwarding/sink.ts';
import { LEFT } from './places.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

export interface Dispatched {
  readonly pool: Pool;
  readonly method: string;
  readonly path: string;
  readonly lines: Lines;
  readonly body: AsyncIterable<Buffer> | undefined;
  /** Milliseconds until the request must begin. */
  readonly patience: number;
  /** Called when octets of the request may have been sent. */
  readonly touched: () => void;
  readonly flow: Flow;
  /** Called when the application is done with the exchange. */
  readonly over: () => void;
}

/**
 * Sends a request over pooled connections, and passes the answer to the client. Resolves when the answer has begun.
 * Rejects before that with HttpError 502 or 504.
 */
export function sendByUndici(asked: Dispatched, sink: Sink): Promise<void> {
  const { pool, method, path, lines, body = null, patience, touched, flow, over } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let controller: Dispatcher.DispatchController | undefined;
  let begun = false;
  let ended: Error | undefined;
  const timer = setTimeout(() => {
    ended = failure(504, 'The application was not reached in time.', undefined);
    reject(ended);
  }, patience);
  flow.end = (why) => {
    ended = why;
    clearTimeout(timer);
    controller?.abort(why);
    reject(why);
  };
  sink.exchange.once('close', () => flow.end(LEFT));

  pool.dispatch(
    { method, path, headers: inTurn(lines), body: body as never },
    {
      onRequestStart(given) {
        clearTimeout(timer);
        controller = given;
        if (ended) given.abort(ended);
        else touched();
      },
      onResponseStart({ rawHeaders }, status, headers, reason) {
        const head = { status, reason, ...received(rawHeaders, headers) };
        if (status >= 100 && status < 200) return sink.interim(head);
        if (sink.declines(head)) throw DECLINED;
        sink.begin(head);
        begun = true;
        resolve();
      },
      onResponseData(given, piece) {
        // Undici delivers an empty piece when a paused answer resumes without data.
        if (piece.length > 0) flow.pass(piece, sink, given);
      },
      onResponseEnd({ rawTrailers }, trailers) {
        over();
        sink.end(received(rawTrailers, trailers).rawHeaders);
      },
      onResponseError(_given, error) {
        over();
        clearTimeout(timer);
        if (begun) sink.breakOff();
        else reject(failureOf(error));
      },
    },
  );
  return promise;
}

/** Names and values alternately. A loop, since this runs for each request and `flat` would take ten times as long. */
function inTurn(lines: Lines): string[] {
  const all: string[] = [];
  for (const [name, value] of lines) all.push(name, value);
  return all;
}

/** Returns the field lines: those of HTTP/1.1 in order, those of HTTP/2 by name. */
function received(
  raw: unknown,
  byName: Readonly<Record<string, string | string[] | undefined>> = {},
): { readonly rawHeaders: readonly string[]; readonly httpVersion: string } {
  if (Array.isArray(raw)) {
    return { rawHeaders: raw.map((part) => text(part as Buffer | string)), httpVersion: '1.1' };
  }
  const rawHeaders = Object.entries(byName).flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return { rawHeaders, httpVersion: '2.0' };
}

const text = (part: Buffer | string) => (typeof part === 'string' ? part : part.toString('latin1'));

const LATE = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function failureOf(error: Error): HttpError | Error {
  if ('status' in error || error === LEFT) return error; // ours
  const code = 'code' in error ? String(error.code) : '';
  return LATE.has(code)
    ? failure(504, 'The application did not answer in time.', error)
    : unanswered('application', error);
}
