/**
 * All that lines of the log have beside `time`, `level`, `server`, `worker` (where there are several) and `event`. Never a secret, a token or a query.
 */
export type LogFields = {
  readonly [Name in keyof Named]?: Named[Name] | undefined;
};

interface Named {
  /** The id of the request; its answer has it as X-Request-Id. */
  id: string;
  /** Why it was refused, or what went wrong; for operators, never told to clients. */
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
  /** How many routine requests of this kind, such as checks of health, went well since the last line that says so. */
  checks: number;

  // The outcome of authentication.
  /** Realm of the protection space. */
  space: string;
  scheme: string;
  verdict: 'granted' | 'refused' | 'absent';
  /** Why it was refused, as a code that stays when the words of `reason` change. */
  refusal: string;
  /** The principal; absent where tokens are issued that name nobody. */
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
  /** How somebody tried to sign in, and what came of it. */
  signIn: 'password' | 'passkey' | 'second-factor';
  signInResult: 'done' | 'goes-on' | 'refused';

  // Forward authentication: the request that the proxy asks about.
  askedMethod: string;
  askedHost: string;
  askedPath: string;

  // The gateway; the forward proxy, and its tunnels.
  /** Where it was passed on to, or leads to. */
  host: string;
  /** Nobody had to be asked: the cache had the answer. */
  cache: 'hit';
  /** How a tunnel ended. */
  end: string;
  /** Octets that came back, and that were sent there. */
  received: number;
  sent: number;

  // A server, its connections and its parts.
  version: string;
  /** It runs from source, or as it was bundled. */
  code: 'source' | 'bundle';
  /** The address that is listened at, or that could not be fetched. */
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
  /** Lines of the log that were dropped, since nobody took them for too long. */
  lines: number;
}
