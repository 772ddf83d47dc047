/**
 * All fields of log lines beside `time`, `level`, `server`, `worker` (if there are several) and `event`. None has a secret,
 * a token or a query.
 */
export type LogFields = {
  readonly [Name in keyof Named]?: Named[Name] | undefined;
};

interface Named {
  /** The id of the request; its answer has it as X-Request-Id. */
  id: string;
  /** Why the request was refused, or what went wrong. It is for operators, and never sent to clients in production. */
  reason: string;

  // A request, at its end.
  /** The trace-id of W3C Trace Context, from a trusted proxy. */
  trace: string;
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  milliseconds: number;
  /** The connection ended before the answer did. */
  cut: true;
  /** The number of successful routine requests of this kind, such as checks of health, since the last such line. */
  checks: number;

  // The outcome of authentication.
  /** Realm of the protection space. */
  space: string;
  scheme: string;
  verdict: 'granted' | 'refused' | 'absent';
  /** Why it was refused, as a code that stays when the words of `reason` change. */
  refusal: string;
  /** The error code of OAuth (RFC 6749 section 5.2), and which of its causes it was. */
  error: string;
  cause: string;
  /** The principal; absent if an issued token names no person. */
  subject: string;
  /** `client_id` of the application that a token or a token request is of. */
  client: string;
  /** Id of the API key that came beside a person. */
  application: string;

  // The authorization server.
  /** Grant type of the token that was asked for, or `gnap`. */
  grant: string;
  /** The scheme by which the token is used. */
  format: string;
  /** The method of a sign-in, and its result. */
  signIn: 'password' | 'passkey' | 'second-factor';
  signInResult: 'done' | 'goes-on' | 'refused';

  // Forward authentication: the request that the proxy asks about.
  askedMethod: string;
  askedHost: string;
  askedPath: string;

  // The gateway; the forward proxy, and its tunnels.
  /** The target of a forwarded request or a tunnel. */
  host: string;
  /** The cache had the answer, so the application was not asked. */
  cache: 'hit';
  /** How a tunnel ended. */
  end: string;
  /** Received and sent octets. */
  received: number;
  sent: number;

  // A server, its connections and its parts.
  version: string;
  /** The server runs from source, or from a bundle. */
  code: 'source' | 'bundle';
  /** The address of a listener, or an address that could not be fetched. */
  url: string;
  /** The address of the listener, or of a client that was refused before there was a request. */
  address: string;
  port: number;
  /** A file or connection of the store that fails, or works again. */
  part: string;
  /** A document that is damaged: its tree and its path. */
  document: string;
  /** The file with its content, in the data folder. */
  file: string;
  /** The folder of a backup. */
  folder: string;
  /** Content files in it. */
  files: number;
  /** Older backups that were removed. */
  removed: number;
  /** The remedy. */
  remedy: string;
  /** Identity of the store's memory, before and after. */
  was: string;
  now: string;
  /** A variable of the environment. */
  variable: string;
  /** Lines of the log that were dropped, since no program read them for too long. */
  lines: number;
}
