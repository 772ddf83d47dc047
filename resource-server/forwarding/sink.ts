import { HttpError } from '#shared/http/answer.ts';
import type { Head } from './fields.ts';

export interface AnswerHead extends Head {
  readonly status: number;
  /** The reason phrase as it came; over HTTP/2 there is none. */
  readonly reason?: string | undefined;
}

/** Thrown for an answer that nobody is to get, since another will be asked for. */
export const DECLINED = new HttpError(502, 'The application asked for a pause. Try again later.');

/** The log's reason for an answer that the other server did not end. */
export const BROKEN_OFF = 'The destination broke off its answer.';

/** Closes when the exchange is over, or nobody wants it any more. */
export interface Ending {
  readonly destroyed: boolean;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/**
 * Takes the answer of another server as it comes: the part that receives it calls these in turn. What throws ends the
 * exchange; what was not ended breaks off, and never looks like a whole answer.
 */
export interface Sink {
  /** An interim answer, such as 103 (RFC 9110 section 15.2). Throws HttpError 502 for a flood of them. */
  interim(head: AnswerHead): void;
  /** The final answer begins. Throws HttpError 502 for one that must not be passed on. */
  begin(head: AnswerHead): void;
  /** False: wait for `drained` before the next. */
  write(piece: Buffer): boolean;
  /** Calls when more can be written. */
  drained(resume: () => void): void;
  /** The content is whole, and these were its trailers. */
  end(rawTrailers: readonly string[]): void;
  breakOff(): void;
  /** Whether an answer that is about to begin is `DECLINED`. */
  declines: (head: AnswerHead) => boolean;
  readonly exchange: Ending;
  /** Whether there is somebody to give it to. */
  readonly wanted: boolean;
  /** Whether the answer that came cannot be passed on. */
  readonly refused: boolean;
}
