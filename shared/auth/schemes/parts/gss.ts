import type { Turn } from '#shared/base/line.ts';

/** The result of one message of a client (RFC 2743 section 2.2.2). */
export type Step =
  | {
      readonly done: true;
      /** The principal with its realm, as in `alice@EXAMPLE.COM`. */
      readonly principal: string;
      /** The last message to the client, which authenticates the server. */
      readonly token?: Buffer;
    }
  /** The message that the client has to answer. */
  | { readonly done: false; readonly token: Buffer };

/** The server's side of one handshake. */
export interface Acceptor {
  /**
   * Processes a message of the client. Rejects with `GssRefused`, and with `HttpError` 503 if too many messages wait.
   */
  step(turn: Turn, token: Buffer): Promise<Step>;
}

export interface Gss {
  accept(): Acceptor;
}

/** Thrown for a message that is not accepted. Its text is for the log, never for the client. */
export class GssRefused extends Error {
  override readonly name = 'GssRefused';
}
