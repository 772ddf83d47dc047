import type { Awaitable } from '#shared/base/awaitable.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { AnswerHead, Ending, Sink } from '../forwarding/sink.ts';

/** An admitted request to an application, and the ways to answer it. */
export interface Asking {
  readonly request: AnyRequest;
  /** When the request arrived, by `monotonic()`. */
  readonly arrived: number;
  /** Path and query that the application is asked for, without the prefix of the upstream's URL. */
  readonly target: string;
  /** `http` or `https`, as the gateway tells the application. */
  readonly scheme: string;
  /**
   * The admitted principal, by whom a private cache separates answers. Undefined: the space has no authentication.
   * Empty: a principal without a name.
   */
  readonly whose: string | undefined;
  /** The exchange of the client's request. */
  readonly exchange: Ending;
  /** The lines of an answer as clients get them. Throws HttpError 502 for an answer that must not be passed on. */
  readonly linesOf: (head: AnswerHead) => Lines;
  /** Passes an answer to the client as it arrives. `more`: adds lines once the status is known. */
  readonly passing: (more: (status: number) => Lines) => Sink;
  /** Asks the application. `change`: edits the lines of the request. Rejects with the reason if no answer comes. */
  readonly forward: (sink: Sink, change?: (given: Lines) => Lines) => Awaitable<void>;
}
