import type { Awaitable } from '#shared/base/awaitable.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { AnswerHead, Ending, Sink } from '../forwarding/sink.ts';

/** A request to an application that was let in, and the ways to answer it. */
export interface Asking {
  readonly request: AnyRequest;
  /** When the request arrived, by `monotonic()`. */
  readonly arrived: number;
  /** Path and query as the application is asked for them, but for where its path begins. */
  readonly target: string;
  /** `http` or `https`, as the application is told. */
  readonly scheme: string;
  /** The principal that was let in, in a private cache; undefined: the space asks nobody. Empty: a principal without a name. */
  readonly whose: string | undefined;
  /** The client's. */
  readonly exchange: Ending;
  /** The lines of an answer as clients get them. Throws HttpError 502 for one that must not be passed on. */
  readonly linesOf: (head: AnswerHead) => Lines;
  /** Gives the client an answer as it comes, with the lines that are known once its head is there. */
  readonly passing: (more: (status: number) => Lines) => Sink;
  /** Asks the application; `change`: of the lines of the request. Rejects with what kept its answer from coming. */
  readonly forward: (sink: Sink, change?: (given: Lines) => Lines) => Awaitable<void>;
}
