import { errors } from 'oidc-provider';
import { errorAnswer } from '#shared/server/message/answer.ts';
import type { ErrorProps } from './view.ts';

/** Ends a request with the error page. Its props are what the person is told. */
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

/** A form or a sign-in that is too old, was used already, or is of another browser. */
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

/** Returns the words for an error that a person sees. An unknown error tells nothing. */
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
