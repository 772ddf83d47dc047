import { jsonOf, type Reply } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';

/** An error that an OAuth endpoint answered with (RFC 6749 section 5.2). */
export class OAuthFailure extends Failure {
  /** For example `invalid_grant`; empty when the answer names none. */
  readonly error: string;

  constructor(reply: Reply, url: string) {
    const { error, error_description: description } = Object(jsonOf(reply)) as Named;
    const said = [error, description].filter((part) => typeof part === 'string').join(': ');
    super(`${url} answers ${reply.status}${said && `: ${said}`}`);
    this.error = typeof error === 'string' ? error : '';
  }
}

interface Named {
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** The server is busy: it got too many requests (RFC 6585 section 4), or has an internal error. */
export class Busy extends OAuthFailure {
  readonly status: number;

  constructor(reply: Reply, url: string) {
    super(reply, url);
    this.status = reply.status;
  }
}
