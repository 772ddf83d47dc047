import { Failure } from '../arguments/command.ts';
import { type Reply } from '#shared/client/send.ts';
import { jsonObject } from './http.ts';

/** How a token is used (RFC 6749 section 7.1). */
export type TokenType = 'dpop' | 'bearer';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly [member: string]: unknown;
}

/** An error that an OAuth endpoint answered with (RFC 6749 section 5.2). */
export class OAuthFailure extends Failure {
  /** For example `invalid_grant`. */
  readonly error: string;

  constructor(answer: Reply, url: string) {
    const { error, error_description: description } = jsonObject(answer, url);
    const said = [error, description].filter((part) => typeof part === 'string').join(': ');
    super(`${url} answers ${answer.status}: ${said}`);
    this.error = typeof error === 'string' ? error : '';
  }
}

/** Throws `OAuthFailure` when it is an error, `Failure` when there is no token of this type in it. */
export function tokenAnswer(answer: Reply, url: string, type: TokenType): TokenAnswer {
  if (answer.status !== 200) throw new OAuthFailure(answer, url);
  const body = jsonObject(answer, url);
  const { access_token, token_type } = body;
  if (typeof access_token !== 'string' || typeof token_type !== 'string') {
    throw new Failure(`${url} gave no token`);
  }
  if (token_type.toLowerCase() !== type) {
    throw new Failure(`${url} gave a token of type ${token_type}, not ${type}`);
  }
  return { ...body, access_token, token_type };
}
