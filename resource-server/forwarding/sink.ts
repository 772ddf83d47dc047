import { HttpError } from '#shared/http/answer.ts';
import type { Head } from './fields.ts';

export interface AnswerHead extends Head {
  readonly status: number;
  /** The reason phrase as received. HTTP/2 has none. */
  readonly reason?: string | undefined;
}

/** Thrown for an answer that is dropped, since another instance will be asked. */
export const DECLINED = new HttpError(502, 'The application asked for a pause. Try again later.');

/** The reason in the log for an answer that the other server broke off. */
export const BROKEN_OFF = 'The destination broke off its answer.';

/** An event source that closes when the exchange is over or no longer wanted. */
export interface Ending {
  readonly destroyed: boolean;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/**
 * Receives the answer of another server. The receiving part calls these methods in order. An error thrown by a method
 * ends the exchange. An answer without `end` breaks off, and never looks complete.
 */
export interface Sink {
  /** An interim answer, such as 103 (RFC 9110 section 15.2). Throws HttpError 502 for too many. */
  interim(head: AnswerHead): void;
  /** Begins the final answer. Throws HttpError 502 for an answer that must not be passed on. */
  begin(head: AnswerHead): void;
  /** False: the caller waits for `drained` before the next piece. */
  write(piece: Buffer): boolean;
  /** Calls back when more can be written. */
  drained(resume: () => void): void;
  /** Ends the answer, with its trailers. */
  end(rawTrailers: readonly string[]): void;
  breakOff(): void;
  /** Whether an answer that is about to begin is `DECLINED`. */
  declines: (head: AnswerHead) => boolean;
  readonly exchange: Ending;
  /** Whether a recipient still waits for the answer. */
  readonly wanted: boolean;
  /** Whether the received answer cannot be passed on. */
  readonly refused: boolean;
}
