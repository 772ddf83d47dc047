/** What one message of a client came to (RFC 2743 section 2.2.2). */
export type Step =
  | {
      readonly done: true;
      /** With its realm, as in `alice@EXAMPLE.COM`. */
      readonly principal: string;
      /** The last message to the client, which proves the server to it. */
      readonly token?: Buffer;
    }
  /** The client has to answer this. */
  | { readonly done: false; readonly token: Buffer };

/** The server's side of one handshake. */
export interface Acceptor {
  /** Rejects with `GssRefused`, and with `StoreUnavailable` when too many are waiting. */
  step(token: Buffer): Promise<Step>;
}

export interface Gss {
  accept(): Acceptor;
}

/** A message that is not accepted. What it says is for the log, never for the client. */
export class GssRefused extends Error {
  override readonly name = 'GssRefused';
}
