import type { Refusal } from '#shared/refusals/refusal.ts';
/** The messages of RFC 9421, as a server or a client has them. */

interface Fields {
  /** Returns the values of all lines of a header field, in order. `name` is in lower case. */
  readonly lines: (name: string) => readonly string[];
  /** Returns the values of all lines of a trailer field; absent if the message has no trailer fields. */
  readonly trailers?: (name: string) => readonly string[];
}

export interface SignedRequest extends Fields {
  readonly method: string;
  /**
   * The target URI. A server builds it from its configured origin, since the client chooses `Host` (section 7.2.1).
   */
  readonly targetUri: string;
  /** The request target as it was sent. */
  readonly requestTarget: string;
}

export interface SignedResponse extends Fields {
  readonly status: number;
  /** The request of the answer, which components with `;req` need (section 2.4). */
  readonly request?: SignedRequest;
}

export type SignedMessage = SignedRequest | SignedResponse;

/** Thrown if a signature cannot be made or verified. The message is the reason, for the log. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
