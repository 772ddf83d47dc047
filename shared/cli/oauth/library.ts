import { sendingBy } from '#shared/client/sending-by.ts';
import type { Reply, Send } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';
import { jsonObject } from './http.ts';
import { Busy, OAuthFailure } from './oauth-failure.ts';

/** The last answer that oauth4webapi got, and the result of the library. */
interface Outcome<T> {
  readonly value: T;
  readonly reply: Reply;
  readonly url: string;
}

/**
 * Calls oauth4webapi, which sends requests by `send` with our limits of time and octets. The library may use http URLs,
 * since `parseSafeUrl` has checked each URL before. Throws `NoAnswer`, `Busy`, `OAuthFailure`, and `Failure` for an
 * answer that the library refuses.
 */
export async function throughLibrary<T>(
  send: Send,
  use: (options: ReturnType<typeof sendingBy>) => Promise<T>,
): Promise<Outcome<T>> {
  let last: { readonly reply: Reply; readonly url: string } | undefined;
  const options = sendingBy(async (message) => {
    last = undefined;
    const reply = await send(message);
    last = { reply, url: message.url };
    return reply;
  });
  try {
    const value = await use(options);
    if (last === undefined) throw new Error('the library has sent nothing');
    return { value, ...last };
  } catch (error) {
    throw last === undefined ? error : inWords(error, last.reply, last.url);
  }
}

/** Explains an answer that the library refused. */
function inWords(error: unknown, reply: Reply, url: string): Failure {
  const { status } = reply;
  if (status === 429 || status >= 500) return new Busy(reply, url);
  if (status !== 200) return new OAuthFailure(reply, url);
  jsonObject(reply, url);
  return new Failure(`${url} gave an answer that cannot be used: ${(error as Error).message}`);
}
