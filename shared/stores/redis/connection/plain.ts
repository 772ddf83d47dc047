import { StoreUnavailable } from '../../outage/unavailable.ts';

interface Failure {
  readonly code?: string;
  readonly message: string;
}

/** Codes of Node for a server that is not there. */
const AWAY = /^(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ETIMEDOUT)$/;

/** By the words of Redis, and of its library. */
const BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS/, 'refuses the user or the password: correct them in its URL'],
  [/^NOAUTH|unauthenticated/, 'asks for a password: write it in its URL'],
  [/^Socket closed unexpectedly/, 'has closed the connection'],
  [/^Connection timeout/, 'does not answer'],
  [/^ERR unknown command 'SENTINEL'/, 'is no sentinel: name the sentinels, or remove the mode'],
  [/cluster support disabled/, 'is no Cluster: name nodes of one, or remove the mode'],
];

/** Nothing that Redis says: another server may be there, or one that takes TLS. */
const SILENT = /^Socket closed unexpectedly|^Connection timeout|^no answer within/;

/** Returns what is wrong with Redis as a sentence, which says what to do where that is known. */
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

/** Returns the same for a connection that could not be opened to the server at a URL. */
export function notOpened(url: string, cause: unknown): StoreUnavailable {
  const { host, protocol } = new URL(url);
  const text = plain(cause, `Redis at ${host}`);
  const other = protocol === 'redis:' ? 'rediss:// if it uses TLS' : 'redis:// if it uses no TLS';
  const remedy = `: start it, correct its host and port, or write ${other}`;
  const isSilent = SILENT.test((cause as Failure).message);
  return new StoreUnavailable(isSilent ? text + remedy : text, { cause });
}
