/** The server to which a connection failed. */
export interface Server {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly database?: string | undefined;
}

interface Failure {
  readonly code?: string;
  readonly message: string;
}

type Sentence = (server: Server, failure: Failure) => string;

const unreachable: Sentence = (_, { code }) =>
  `cannot be reached (${code}): start it, or correct its host and port`;
const untrusted: Sentence = (_, { code }) =>
  `has a certificate that nobody trusts here (${code}): name the one that signs it in store.ca`;

/** Sentences by SQLSTATE, and by Node's codes for sockets and TLS. */
const BY_CODE: Readonly<Record<string, Sentence>> = {
  '28P01': ({ user }) => `refuses the password of user ${user}: correct it in its URL`,
  '28000': ({ user }, { message }) =>
    `does not let user ${user} in (${message}): correct the user, or pg_hba.conf of the server`,
  '3D000': ({ database }) =>
    `has no database ${database}: make it with CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0, or correct the name`,
  '42501': ({ user, database }) =>
    `does not let user ${user} into database ${database}: GRANT CONNECT ON DATABASE ${database} TO ${user}`,
  '53300': (_, { message }) =>
    `has no connection left (${message}): raise its max_connections, or lower store.connections`,
  EAI_AGAIN: unreachable,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOENT: unreachable,
  ENOTFOUND: unreachable,
  ETIMEDOUT: unreachable,
  CERT_HAS_EXPIRED: () => 'has a certificate that has expired: renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }) =>
    `has a certificate for other names than ${host}: name the server in its URL as its certificate does`,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

/** Sentences by the words of `pg`, for errors without a code. */
const BY_WORDS: readonly (readonly [RegExp, Sentence])[] = [
  [
    /not support SSL/,
    () => 'has no TLS: turn ssl on there, or remove sslmode from its URL, and store.ca',
  ],
  [
    /password must be a/,
    ({ user }) => `asks for the password of user ${user}: write it in its URL`,
  ],
  [
    /^Connection terminated due to|^timeout expired|^Query read timeout/,
    () => 'does not answer: start it, or correct its host and port',
  ],
  [
    /^Connection terminated unexpectedly/,
    () => 'has ended the connection: look in its log, start it, and try again',
  ],
  [
    /unsupported startup parameter/,
    (_, { message }) => `is a pooler (${message}): name PostgreSQL itself in store.urls`,
  ],
  [
    /^timeout exceeded when trying to connect/,
    () => 'was too slow, or had too much to do: no connection to it became free',
  ],
];

/** The primary could not be reached, so nothing was done. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';

  /** Returns the error for one server: a sentence that says what to do. */
  static to(server: Server, cause: unknown): NoConnection {
    const failure = cause as Failure;
    const known =
      BY_CODE[failure.code ?? ''] ?? BY_WORDS.find(([words]) => words.test(failure.message))?.[1];
    const place = `PostgreSQL at ${server.host}:${server.port}`;
    const text = known ? `${place} ${known(server, failure)}` : `${place}: ${failure.message}`;
    return new NoConnection(text, { cause });
  }

  /** Returns the error if all servers have failed. */
  static toAny(failures: readonly NoConnection[]): NoConnection {
    const [first, ...more] = failures;
    if (first !== undefined && more.length === 0) return first;
    return new NoConnection(failures.map(({ message }) => message).join('; '), {
      cause: first,
    });
  }
}
