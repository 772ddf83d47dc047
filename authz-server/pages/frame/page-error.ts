import { errors } from 'oidc-provider';
import { errorAnswer } from '#shared/server/message/answer.ts';
import type { ErrorProps } from './view.ts';

/** Ends a request with the error page, which has the props of this error. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly props: ErrorProps;

  constructor(
    status: number,
    kind: ErrorProps['kind'],
    more: Pick<ErrorProps, 'detail' | 'back'> = {},
  ) {
    super(more.detail ?? kind);
    this.props = { status, kind, ...more };
  }
}

/** Returns the error for a form or a sign-in that is too old, was used already, or belongs to another browser. */
export function expired(back?: ErrorProps['back'], status = 400): PageError {
  return new PageError(status, 'expired', back && { back });
}

const KINDS: Readonly<Record<number, ErrorProps['kind']>> = {
  404: 'not-found',
  405: 'not-found',
  429: 'later',
  500: 'server',
  503: 'unavailable',
};

/** Returns the props of the error page. For an unknown error the page gives no details. */
export function errorProps(error: unknown): ErrorProps {
  if (error instanceof PageError) return error.props;
  if (error instanceof errors.SessionNotFound) return expired().props;
  const status = statusOf(error);
  return { status, kind: KINDS[status] ?? (status < 500 ? 'request' : 'server') };
}

function statusOf(error: unknown): number {
  const { status } = errorAnswer(error);
  return error instanceof errors.OIDCProviderError && error.expose ? error.statusCode : status;
}
