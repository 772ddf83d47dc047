/**
 * All fields of log lines besides `time`, `level`, `server`, `worker` (if there are several) and `event`. No field
 * has a secret, a token or a query.
 */
export type LogFields = {
  readonly [Name in keyof Named]?: Named[Name] | undefined;
};

interface Named {
  /** The id of the request, which its answer has as X-Request-Id. */
  id: string;
  /** The reason of a refusal or failure. It is for operators, and never sent to clients in production. */
  reason: string;

  // A request, at its end.
  /** The trace-id of W3C Trace Context, from a trusted proxy. */
  trace: string;
  method: string;
  /** The path without the query. */
  path: string;
  status: number;
  milliseconds: number;
  /** The connection ended before the answer. */
  cut: true;
  /** The number of successful routine requests of this kind, such as health checks, since the last such line. */
  checks: number;

  // The outcome of authentication.
  /** Realm of the protection space. */
  space: string;
  scheme: string;
  verdict: 'granted' | 'refused' | 'absent';
  /** The code of the refusal, which stays the same when the words of `reason` change. */
  refusal: string;
  /** The error code of OAuth (RFC 6749 section 5.2), and its cause. */
  error: string;
  cause: string;
  /** The id of the principal; absent if an issued token names no person. */
  subject: string;
  /** `client_id` of the application of a token or a token request. */
  client: string;
  /** Id of the API key that accompanied a person's credentials. */
  application: string;

  // The authorization server.
  /** Grant type of the requested token, or `gnap`. */
  grant: string;
  /** The scheme by which the token is used. */
  format: string;
  /** The method of a sign-in, and its result. */
  signIn: 'password' | 'passkey' | 'second-factor' | 'provider';
  signInResult: 'done' | 'goes-on' | 'refused';

  // Forward authentication: the request that the proxy describes.
  askedMethod: string;
  askedHost: string;
  askedPath: string;

  // The gateway; the forward proxy, and its tunnels.
  /** The target of a forwarded request or a tunnel. */
  host: string;
  /** The answer came from the cache, so the application received no request. */
  cache: 'hit';
  /** How a tunnel ended. */
  end: string;
  /** Received and sent octets. */
  received: number;
  sent: number;

  // A server, its connections and its parts.
  version: string;
  /** Whether the server runs from source or from a bundle. */
  code: 'source' | 'bundle';
  /** The address of a listener, or an address that could not be fetched. */
  url: string;
  /** The address of the listener, or of a client that was refused before its request was read. */
  address: string;
  port: number;
  /** A file or connection of the store that fails, or that works again. */
  part: string;
  /** A damaged document: its tree and its path. */
  document: string;
  /** The file with the document's content, in the data folder. */
  file: string;
  /** The folder of a backup. */
  folder: string;
  /** The number of content files in the backup. */
  files: number;
  /** Older backups that were removed. */
  removed: number;
  /** The next step for the operator. */
  remedy: string;
  /** Identity of the store's memory, before and after. */
  was: string;
  now: string;
  /** A variable of the environment. */
  variable: string;
  /** Lines of the log that were dropped, since the reader did not read for too long. */
  lines: number;
}
