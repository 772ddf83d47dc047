import { keyForChallenge, type SiteChallenge } from '#shared/auth/schemes/private-token/client.ts';
import { originOfServer } from '#shared/private-token/server-name.ts';
import {
  DIRECTORY_PATH,
  DIRECTORY_TYPE,
  type DirectoryKey,
  type IssuerDirectory,
  parseDirectory,
} from '#shared/private-token/issuer-directory.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';
import type { Clock } from '#shared/base/clock.ts';
import { Failure } from '../arguments/command.ts';
import { type Reply, type Send } from '#shared/client/send.ts';
import { jsonObject } from '../oauth/http.ts';

/** Octets of the longest content that an issuer may send. */
export const LONGEST_ANSWER = 65_536;

/** RFC 9578 section 4. A redirect is not followed, since the issuer's name determines the URL. Throws `Failure`. */
export async function fetchIssuerDirectory(send: Send, issuer: string): Promise<IssuerDirectory> {
  const url = originOfServer(issuer) + DIRECTORY_PATH;
  const answer = await send({ method: 'GET', url, fields: { accept: DIRECTORY_TYPE } });
  if (answer.status !== 200) throw new Failure(`${url} answers ${answer.status}`);
  expectMediaType(answer, DIRECTORY_TYPE, url);
  const document = jsonObject(answer, url);
  try {
    return parseDirectory(document, url);
  } catch (error) {
    throw new Failure(`${url} cannot be used: ${(error as Error).message}`);
  }
}

/** The key to get a token with (`keyForChallenge`). Throws `Failure`. */
export function keyFor(
  challenge: SiteChallenge,
  directory: IssuerDirectory,
  clock: Clock,
): DirectoryKey {
  const key = keyForChallenge(challenge, directory, clock);
  if (key !== undefined) return key;
  const { type, issuer, tokenKey } = challenge;
  throw new Failure(
    tokenKey === undefined
      ? `${issuer} has no key of type ${TOKEN_TYPES[type].name} now`
      : `the site asks for a key that ${issuer} does not use now: it could be there to recognise you (RFC 9576 section 6.2). If the key was changed just now, try again in a minute.`,
  );
}

/** Throws `Failure` when the answer says that it is something else. */
export function expectMediaType({ fields }: Reply, type: string, url: string): void {
  const [said = ''] = (fields['content-type'] ?? '').split(';');
  if (said.trim().toLowerCase() !== type)
    throw new Failure(`${url} answers with ${said || 'no type'}, not ${type}`);
}
