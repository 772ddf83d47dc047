import type { Config } from '#shared/config/schema.ts';
import type { DirectoryKey, IssuerDirectory } from '#shared/private-token/issuer-directory.ts';
import { originOfServer } from '#shared/private-token/server-name.ts';
import { NoAnswer } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';
import type { Login } from '../oauth/login.ts';
import type { SiteChallenge } from '#shared/auth/schemes/private-token/client.ts';
import { openSendTo } from './send-to.ts';
import { fetchIssuerDirectory, LONGEST_ANSWER } from './issuer.ts';
import { type Holder, issuerLogin } from './issuer-login.ts';
import { obtainTokens } from './obtain.ts';

/** The outcome of asking an issuer. */
export interface Obtained {
  readonly tokens: readonly [Buffer, ...Buffer[]];
  /** The reason if there are fewer tokens than requested. */
  readonly failure: Error | undefined;
  /** Undefined: the issuer did not ask for one. */
  readonly login: Login | undefined;
}

/**
 * Fetches the issuer's keys over separate connections, so that the issuer cannot show other keys to a person who is
 * signed in.
 */
export async function directoryOf(issuer: string, config: Config): Promise<IssuerDirectory> {
  await using send = await openSendTo(originOfServer(issuer), config, LONGEST_ANSWER);
  return await fetchIssuerDirectory(send, issuer);
}

/** Gets at least one token for a challenge. Throws `Failure` if there is none. */
export async function getTokens(
  { issuer, digest }: SiteChallenge,
  requestUrl: string,
  key: DirectoryKey,
  count: number,
  holder: Holder,
): Promise<Obtained> {
  await using send = await openSendTo(originOfServer(issuer), holder.config, LONGEST_ANSWER);
  await using asking = issuerLogin(holder);
  const order = { requestUrl, key, digest, count };
  const tokens: Buffer[] = [];
  let failure: Error | undefined;
  try {
    const obtained = obtainTokens(send, order, asking.getAccess, holder.shell.random);
    for await (const token of obtained) tokens.push(token);
  } catch (error) {
    if (!(error instanceof Failure || error instanceof NoAnswer)) throw error;
    failure = error;
  }
  const [first, ...others] = tokens;
  if (first === undefined) throw failure ?? new Failure(`${issuer} gave no token`);
  return { tokens: [first, ...others], failure, login: asking.login };
}
