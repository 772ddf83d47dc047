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
import type { SiteChallenge } from './challenges.ts';

/** Octets of the longest content that an issuer may send. */
export const LONGEST_ANSWER = 65_536;

/** RFC 9578 section 4. A redirect is not followed: the name says where it is. Throws `Failure`. */
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

/** The keys of a type that issue now, the issuer's preferred one first. */
export function keysInUse(
  { keys }: IssuerDirectory,
  type: SiteChallenge['type'],
  clock: Clock,
): readonly DirectoryKey[] {
  return keys.filter((key) => key.type === type && (key.notBefore ?? 0) * 1000 <= clock.now());
}

/**
 * The key to get a token with. One that the site names counts only if the issuer shows it to everybody,
 * or the site could mark a person by a key of their own (RFC 9576 section 6.2). Throws `Failure`.
 */
export function keyFor(
  { type, issuer, tokenKey }: SiteChallenge,
  directory: IssuerDirectory,
  clock: Clock,
): DirectoryKey {
  const keys = keysInUse(directory, type, clock);
  const key =
    tokenKey === undefined ? keys[0] : keys.find(({ publicKey }) => publicKey.equals(tokenKey));
  if (key !== undefined) return key;
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
