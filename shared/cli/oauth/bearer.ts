import { decodeJwt } from 'jose';
import { Failure } from '../arguments/command.ts';
import { audienceOf } from './login.ts';

/**
 * The Authorization field of a token that goes by Bearer (RFC 6750 section 2.1). Its receiver can use it
 * wherever it counts, so it has to count for this resource alone (RFC 8707 section 3). A token that is bound to a
 * key stays here: a server that does not know DPoP would take it from anybody (RFC 9449 section 7.2). Throws `Failure`.
 */
export function bearerField(accessToken: string, resource: string): string {
  const audience = audienceOf(accessToken);
  if (audience !== resource) {
    const named = audience ?? 'no single resource that it names';
    throw new Failure(`the token is for ${named}, not for ${resource} alone: it is not sent`);
  }
  if (decodeJwt(accessToken)['cnf'] !== undefined) {
    throw new Failure(`the token is bound to a key, and ${resource} takes Bearer alone: not sent`);
  }
  return `Bearer ${accessToken}`;
}
