import { requestToken } from '#shared/auth/schemes/private-token/client.ts';
import {
  type DirectoryKey,
  REQUEST_TYPE,
  RESPONSE_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import type { Random } from '#shared/base/random.ts';
import { Failure } from '../arguments/command.ts';
import { type Reply, type Send } from '#shared/client/send.ts';
import { retryAfter } from '../oauth/http.ts';
import { type Access, type GetAccess, sendWithToken } from '../oauth/protected-request.ts';
import { findMetadata } from '../oauth/resource-metadata.ts';
import { expectMediaType } from './issuer.ts';

export interface TokenOrder {
  readonly requestUrl: string;
  readonly key: DirectoryKey;
  /** The digest of the challenge that the tokens are for. */
  readonly digest: Buffer;
  readonly count: number;
}

/**
 * Gets tokens from an issuer, one after the other (RFC 9578 sections 5 and 6), each verified; `getAccess` is
 * asked when the issuer wants to know who asks. Nothing of the site is sent. Throws `Failure`, also after
 * some tokens.
 */
export async function* obtainTokens(
  send: Send,
  order: TokenOrder,
  getAccess: GetAccess,
  random: Random,
): AsyncGenerator<Buffer> {
  const { requestUrl: url, key, digest, count } = order;
  let access: Access | undefined;
  for (let got = 0; got < count; got += 1) {
    const { content, finalize } = await requestToken(key, digest, random);
    const message = {
      method: 'POST',
      url,
      fields: { 'content-type': REQUEST_TYPE, accept: RESPONSE_TYPE },
      body: content,
    };
    let answer = await sendWithToken(send, message, access);
    if (answer.status === 401 && access === undefined) {
      access = await getAccess(await findMetadata(send, url, answer));
      answer = await sendWithToken(send, message, access);
    }
    if (answer.status !== 200) throw new Failure(refusal(url, answer));
    expectMediaType(answer, RESPONSE_TYPE, url);
    const token = finalize(answer.body);
    if (token === undefined) {
      throw new Failure(`${url} gave a token that the published key has not signed`);
    }
    yield token;
  }
}

/** The remedies by status. */
const REMEDIES: ReadonlyMap<number, string> = new Map([
  [401, 'the login does not count there: run the command again'],
  [403, 'the login may not have tokens there'],
  [422, 'its key is not in use any more: run the command again'],
  [429, 'no more tokens for this person and client now'],
]);

function refusal(url: string, answer: Reply): string {
  const { status } = answer;
  const after = retryAfter(answer);
  const wait = after === undefined ? '' : `; try again in ${after} s`;
  const remedy = REMEDIES.get(status);
  return `${url} answers ${status}${remedy === undefined ? '' : `: ${remedy}`}${wait}`;
}
