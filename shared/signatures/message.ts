import type { Refusal } from '#shared/refusals/refusal.ts';
/** The messages that RFC 9421 signs, as a server or a client knows them. */

interface Fields {
  /** Returns the values of all lines of a header field, in order. `name` is in lower case. */
  readonly lines: (name: string) => readonly string[];
  /** The same for trailer fields. Absent: the message has none. */
  readonly trailers?: (name: string) => readonly string[];
}

export interface SignedRequest extends Fields {
  readonly method: string;
  /** The target URI. A server makes it of its configured origin, since a client chooses `Host` (section 7.2.1). */
  readonly targetUri: string;
  /** The request target as it was sent. */
  readonly requestTarget: string;
}

export interface SignedResponse extends Fields {
  readonly status: number;
  /** The request that it answers; needed for components with `;req` (section 2.4). */
  readonly request?: SignedRequest;
}

export type SignedMessage = SignedRequest | SignedResponse;

/** A signature that cannot be made or verified. Its message is the reason, for the log. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
