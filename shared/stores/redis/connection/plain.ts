import { StoreUnavailable } from '../../outage/unavailable.ts';

interface Failure {
  readonly code?: string;
  readonly message: string;
}

/** Codes of Node for a server that cannot be reached. */
const AWAY = /^(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ETIMEDOUT)$/;

/** Sentences by the words of Redis and its library. */
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS/, 'refuses the user or the password: correct them in its URL'],
  [/^NOAUTH|unauthenticated/, 'asks for a password: write it in its URL'],
  [/^Socket closed unexpectedly/, 'has closed the connection'],
  [/^Connection timeout/, 'does not answer'],
  [/^ERR unknown command 'SENTINEL'/, 'is no sentinel: name the sentinels, or remove the mode'],
  [/cluster support disabled/, 'is no Cluster: name nodes of one, or remove the mode'],
];

/** Errors without an answer: the address may be wrong, or the server may use TLS. */
const SILENT = /^Socket closed unexpectedly|^Connection timeout|^no answer within/;

/** Returns a sentence that says what is wrong with Redis, and what to do if that is known. */
export function plain(error: unknown, place = 'Redis'): string {
  if (error instanceof StoreUnavailable) return error.message;
  const { code = '', message } = error as Failure;
  if (AWAY.test(code)) {
    return `${place} cannot be reached (${code}): start it, or correct its host and port`;
  }
  const [, known] = BY_WORDS.find(([words]) => words.test(message)) ?? [];
  if (known !== undefined) return `${place} ${known}`;
  return message.startsWith('no answer') ? `${place} gives ${message}` : `${place}: ${message}`;
}

/** Returns the error for a connection to a URL that could not be opened. */
export function notOpened(url: string, cause: unknown): StoreUnavailable {
  const { host, protocol } = new URL(url);
  const text = plain(cause, `Redis at ${host}`);
  const other = protocol === 'redis:' ? 'rediss:// if it uses TLS' : 'redis:// if it uses no TLS';
  const remedy = `: start it, correct its host and port, or write ${other}`;
  const isSilent = SILENT.test((cause as Failure).message);
  return new StoreUnavailable(isSilent ? text + remedy : text, { cause });
}
